// The colours of every picture: the palette of Okabe and Ito, which people with any kind of colour
// vision can tell apart, on a light or a dark ground.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kindred::render {

inline constexpr const char* kOrange = "#e69f00";
inline constexpr const char* kSkyBlue = "#56b4e9";
inline constexpr const char* kGreen = "#009e73";
inline constexpr const char* kYellow = "#f0e442";  // too faint on light ground
inline constexpr const char* kBrown = "#7b4f2a";   // instead of it there
inline constexpr const char* kBlue = "#0072b2";
inline constexpr const char* kVermillion = "#d55e00";
inline constexpr const char* kPurple = "#cc79a7";

struct Theme {
  std::string background;
  std::string text;
  std::string muted;  ///< Less important text, axes.
  std::string faint;  ///< Lines in the background.
  std::string wall;
  std::string floor;
  std::array<const char*, 7> groups;  ///< Those with most contrast first.

  /// The colour of a group (a label, a cluster, an object); they repeat after seven.
  std::string group(std::int64_t number) const;
};

const Theme& theme(bool dark);

/// From blue at 0 over purple to orange at 1, growing lighter.
std::string time_colour(double share);

}  // namespace kindred::render
