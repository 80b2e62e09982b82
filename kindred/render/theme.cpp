#include "kindred/render/theme.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kindred::render {
namespace {

using Rgb = std::array<double, 3>;

Rgb rgb(const std::string& colour) {
  const auto channel = [&](std::size_t at) {
    return static_cast<double>(std::stoi(colour.substr(at, 2), nullptr, 16));
  };
  return {channel(1), channel(3), channel(5)};
}

std::string blend(const char* from, const char* to, double share) {
  const auto a = rgb(from), b = rgb(to);
  const auto channel = [&](std::size_t i) {
    return static_cast<int>(std::lround(a[i] + share * (b[i] - a[i])));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2));
}

}  // namespace

const Theme& theme(bool dark) {
  static const Theme kLight = {
      .background = "#ffffff",
      .text = "#1b1f24",
      .muted = "#5c6570",
      .faint = "#dfe3e8",
      .wall = "#aab2bb",
      .floor = "#f6f7f9",
      .groups = {kBlue, kVermillion, kGreen, kPurple, kSkyBlue, kOrange, kBrown}};
  static const Theme kDark = {
      .background = "#14171b",
      .text = "#eceff2",
      .muted = "#a3acb6",
      .faint = "#343b43",
      .wall = "#59636e",
      .floor = "#1d2126",
      .groups = {kSkyBlue, kOrange, kGreen, kPurple, kYellow, kVermillion, kBlue}};
  return dark ? kDark : kLight;
}

std::string Theme::group(std::int64_t number) const {
  return groups[static_cast<std::size_t>(std::max<std::int64_t>(number, 0)) % groups.size()];
}

std::string time_colour(double share) {
  share = std::clamp(share, 0.0, 1.0);
  return share < 0.5 ? blend(kBlue, kPurple, 2.0 * share)
                     : blend(kPurple, kOrange, 2.0 * share - 1.0);
}

}  // namespace kindred::render
