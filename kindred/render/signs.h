// The signs that pictures of routes share: start, goal, arrows, and the route itself, coloured by
// time.
#pragma once

#include <span>

#include "kindred/render/sheet.h"

namespace kindred::render {

void draw_start(Svg& svg, Point at, double radius, const Theme& theme);
void draw_goal(Svg& svg, Point at, double radius);

/// A line with an open head.
void draw_arrow(Svg& svg, Point from, Point to, double head, const Look& look);

/// A point of a route; times run from 0 to 1.
struct WayPoint {
  Point at;
  double time = 0.0;
};

/// The time of the i-th of `count` points.
double share(std::size_t i, std::size_t count);

struct WayLook {
  double width = 3.0;
  double rounding = 10.0;  ///< How far from a corner its curve begins.
  bool heads = true;       ///< Whether every step has an arrow head, not the last one alone.
};

/// A smooth line along the points, coloured by time.
void draw_way(Svg& svg, std::span<const WayPoint> points, const WayLook& look);

LegendEntry start_entry(const Theme& theme);
LegendEntry goal_entry();
LegendEntry time_entry();

}  // namespace kindred::render
