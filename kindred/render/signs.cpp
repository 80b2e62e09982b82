#include "kindred/render/signs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace kindred::render {
namespace {

constexpr double kSignRadius = 8.0;

double length_of(Point p) { return std::hypot(p.x, p.y); }

/// An open arrow head whose tip is at `tip`.
std::array<Point, 3> head_at(Point tip, Point direction, double size) {
  const Point back = (-size / length_of(direction)) * direction;
  const Point side{-0.7 * back.y, 0.7 * back.x};
  return {tip + back + side, tip, tip + back - side};
}

/// `distance` from `from` towards `to`, but at most halfway.
Point towards(Point from, Point to, double distance) {
  const Point way = to - from;
  return from + std::min(0.5, distance / std::max(length_of(way), 1e-9)) * way;
}

/// The part of the route around point i, from halfway to the point before to halfway to the next.
Outline piece(std::span<const WayPoint> points, std::size_t i, double rounding) {
  const Point here = points[i].at;
  Outline outline;
  if (i == 0) return outline.move(here).line(middle(here, points[1].at));
  const Point before = points[i - 1].at;
  if (i + 1 == points.size()) return outline.move(middle(before, here)).line(here);
  const Point next = points[i + 1].at;
  return outline.move(middle(before, here))
      .line(towards(here, before, rounding))
      .curve(here, towards(here, next, rounding))
      .line(middle(here, next));
}

}  // namespace

void draw_start(Svg& svg, Point at, double radius, const Theme& theme) {
  svg.circle(at, radius, {.stroke = theme.text, .width = 2.0, .role = "start", .title = "start"});
}

void draw_goal(Svg& svg, Point at, double radius) {
  std::array<Point, 10> star;
  for (std::size_t i = 0; i < star.size(); ++i) {
    const double angle = std::numbers::pi * (0.2 * static_cast<double>(i) - 0.5);
    const double distance = radius * (i % 2 == 0 ? 1.0 : 0.45);
    star[i] = at + distance * Point{std::cos(angle), std::sin(angle)};
  }
  svg.polygon(star, {.fill = kGreen, .role = "goal", .title = "goal"});
}

void draw_arrow(Svg& svg, Point from, Point to, double head, const Look& look) {
  Outline outline;
  outline.move(from).line(to);
  const auto [left, tip, right] = head_at(to, to - from, head);
  svg.path(outline.move(left).line(tip).line(right), look);
}

double share(std::size_t i, std::size_t count) {
  return count < 2 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
}

void draw_way(Svg& svg, std::span<const WayPoint> points, const WayLook& look) {
  if (points.size() < 2) return;
  for (std::size_t i = 0; i < points.size(); ++i)
    svg.path(piece(points, i, look.rounding),
             {.stroke = time_colour(points[i].time), .width = look.width, .role = "way"});
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point from = points[i - 1].at, to = points[i].at;
    const bool last = i + 1 == points.size();
    if (!last && (!look.heads || length_of(to - from) < 4.0 * look.width)) continue;
    if (length_of(to - from) < 1e-6) continue;  // no direction
    const Point tip = last ? to : middle(from, to) + 0.1 * (to - from);
    svg.polyline(
        head_at(tip, to - from, (last ? 3.2 : 2.0) * look.width),
        {.stroke = time_colour(points[i].time), .width = last ? look.width : 0.7 * look.width});
  }
}

LegendEntry start_entry(const Theme& theme) {
  return {"start", 2.0 * kSignRadius,
          [&theme](Svg& svg, Point at) { draw_start(svg, at, kSignRadius - 1.0, theme); }};
}

LegendEntry goal_entry() {
  return {"goal", 2.0 * kSignRadius,
          [](Svg& svg, Point at) { draw_goal(svg, at, kSignRadius + 1.0); }};
}

LegendEntry time_entry() {
  constexpr std::size_t kParts = 24;
  constexpr double kPart = 4.0;
  return {"from first to last step", kParts * kPart, [](Svg& svg, Point at) {
            Point corner = at - Point{0.5 * kParts * kPart, 4.0};
            for (std::size_t i = 0; i < kParts; ++i, corner.x += kPart)
              svg.rectangle(corner, {kPart + 0.5, 8.0}, {.fill = time_colour(share(i, kParts))});
          }};
}

}  // namespace kindred::render
