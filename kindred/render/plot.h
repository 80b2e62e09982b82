// A rectangle with axes: where values stand in it, ticks on its left and lower side.
#pragma once

#include <string>

#include "kindred/render/axis.h"
#include "kindred/render/svg.h"
#include "kindred/render/theme.h"

namespace kindred::render {

class Plot {
 public:
  /// Room that the labels of ticks and the names of axes need around it.
  static constexpr double kLeft = 52.0, kBelow = 20.0, kAxisName = 16.0;

  Plot(Point corner, Size size, Range x, Range y, const Theme& theme)
      : corner_(corner),
        size_(size),
        x_{x, corner.x, corner.x + size.width},
        y_{y, corner.y + size.height, corner.y},
        theme_(theme) {}

  Point at(Point value) const { return {x_(value.x), y_(value.y)}; }

  /// The ground, a faint line and a label for every tick.
  void draw_axes(Svg& svg, const Ticks& x, const Ticks& y) const;
  void name_axes(Svg& svg, const std::string& x, const std::string& y) const;

 private:
  Point corner_;
  Size size_;
  Scale x_, y_;
  const Theme& theme_;
};

}  // namespace kindred::render
