// A sheet of panels, one per episode, each under its heading, with one legend below them all.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kindred/render/episode.h"
#include "kindred/render/svg.h"
#include "kindred/render/theme.h"

namespace kindred::render {

/// A sign and what it stands for, or a text alone.
struct LegendEntry {
  std::string text;
  double width = 0.0;  ///< Of the sign; 0: there is none.
  std::function<void(Svg& svg, Point centre)> draw;
};

/// A kind of picture of the episodes it was made for, which are numbered from 0 here.
class Picture {
 public:
  virtual ~Picture() = default;
  /// Panels side by side before a new row begins.
  virtual std::size_t columns() const = 0;
  virtual Size size_of(std::size_t episode) const = 0;
  virtual void draw(Svg& svg, Point corner, std::size_t episode) const = 0;
  virtual std::vector<LegendEntry> legend() const = 0;
};

std::string draw_sheet(const Picture& picture, std::span<const Episode> episodes,
                       const Theme& theme);

}  // namespace kindred::render
