// The route through the plane of path-following, with the forces along it.
#include <algorithm>
#include <array>
#include <cmath>

#include "kindred/core/error.h"
#include "kindred/render/axis.h"
#include "kindred/render/pictures.h"
#include "kindred/render/plot.h"
#include "kindred/render/signs.h"

namespace kindred::render {
namespace {

constexpr double kSide = 380.0;                  // of the square plot
constexpr double kForceLength = 0.3;             // of a unit force, in the plane
constexpr std::size_t kPosition = 0, kGoal = 4;  // in an observation, with the velocity between

using Polyline = std::array<Point, 3>;
constexpr std::array<Polyline, 2> kReferences = {
    {{{{-1.0, -1.0}, {-1.0, 1.0}, {1.0, 1.0}}}, {{{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}}}}};

Point pair_at(std::span<const float> numbers, std::size_t at) {
  return {numbers[at], numbers[at + 1]};
}

/// Steps with round numbers: at most `count` of them, and none closer to an earlier one than
/// `distance` pixels.
std::vector<std::size_t> some_steps(const std::vector<WayPoint>& way, int count, double distance) {
  std::vector<std::size_t> steps;
  const auto is_near = [&](std::size_t i) {
    return std::ranges::any_of(steps, [&](std::size_t other) {
      const Point apart = way[i].at - way[other].at;
      return std::hypot(apart.x, apart.y) < distance;
    });
  };
  for (const double step : whole_ticks({0.0, static_cast<double>(way.size()) - 0.5}, count).values)
    if (const auto i = static_cast<std::size_t>(step); !is_near(i)) steps.push_back(i);
  return steps;
}

class PathPicture final : public Picture {
 public:
  PathPicture(std::span<const Episode> episodes, const Theme& theme)
      : episodes_(episodes), theme_(theme) {
    Range x{-1.0, 1.0}, y{-1.0, 1.0};
    const auto include = [&](Point p) { x.include(p.x), y.include(p.y); };
    for (const auto& episode : episodes_)
      for (std::int64_t step = 0; step < episode.length; ++step) {
        include(pair_at(episode.observation(step), kPosition));
        include(pair_at(episode.observation(step), kGoal));
      }
    const double width = 1.1 * std::max(x.width(), y.width());  // the same scale for both
    x_ = {0.5 * (x.low + x.high - width), 0.5 * (x.low + x.high + width)};
    y_ = {0.5 * (y.low + y.high - width), 0.5 * (y.low + y.high + width)};
  }

  std::size_t columns() const override { return 3; }

  Size size_of(std::size_t) const override {
    return {kSide + Plot::kLeft, kSide + Plot::kBelow + Plot::kAxisName};
  }

  void draw(Svg& svg, Point corner, std::size_t index) const override {
    const auto& episode = episodes_[index];
    const Plot plot(corner + Point{Plot::kLeft, 0.0}, {kSide, kSide}, x_, y_, theme_);
    plot.draw_axes(svg, round_ticks(x_, 9), round_ticks(y_, 9));
    plot.name_axes(svg, "x", "y");
    for (const auto& reference : kReferences) draw_reference(svg, plot, reference);

    std::vector<WayPoint> way;
    const auto length = static_cast<std::size_t>(episode.length);
    for (std::size_t i = 0; i < length; ++i)
      way.push_back({plot.at(pair_at(episode.observation(static_cast<std::int64_t>(i)), kPosition)),
                     share(i, length)});
    draw_start(svg, way.front().at, 8.0, theme_);
    draw_forces(svg, episode, way);
    draw_way(svg, way, {.heads = false});
    draw_goal(svg, plot.at(pair_at(episode.observation(0), kGoal)), 11.0);
    draw_numbers(svg, way);
  }

  std::vector<LegendEntry> legend() const override {
    return {start_entry(theme_),
            goal_entry(),
            time_entry(),
            {"force", 18.0,
             [this](Svg& svg, Point at) {
               draw_arrow(svg, at - Point{8.0, 0.0}, at + Point{8.0, 0.0}, 4.0, force_look());
             }},
            {"reference routes", 24.0, [this](Svg& svg, Point at) {
               svg.line(at - Point{12.0, 0.0}, at + Point{12.0, 0.0}, reference_look());
             }}};
  }

 private:
  Look force_look() const { return {.stroke = theme_.muted, .width = 1.4, .role = "force"}; }
  Look reference_look() const {
    return {
        .stroke = theme_.wall, .width = 2.0, .opacity = 0.7, .dash = "2 6", .role = "reference"};
  }

  void draw_reference(Svg& svg, const Plot& plot, const Polyline& reference) const {
    std::array<Point, 3> points;
    std::ranges::transform(reference, points.begin(), [&](Point p) { return plot.at(p); });
    svg.polyline(points, reference_look());
  }

  void draw_forces(Svg& svg, const Episode& episode, const std::vector<WayPoint>& way) const {
    const double unit = kForceLength * kSide / x_.width();
    for (const auto i : some_steps(way, 25, 16.0)) {
      const Point force = pair_at(episode.continuous_actions, 2 * i);
      const Point arrow{unit * force.x, -unit * force.y};
      if (std::hypot(arrow.x, arrow.y) > 3.0)
        draw_arrow(svg, way[i].at, way[i].at + arrow, 4.0, force_look());
    }
  }

  void draw_numbers(Svg& svg, const std::vector<WayPoint>& way) const {
    for (const auto i : some_steps(way, 11, 36.0)) {
      svg.circle(way[i].at, 2.5, {.fill = theme_.text});
      svg.text(way[i].at + Point{7.0, -7.0}, std::to_string(i),
               {.fill = theme_.text, .size = 12.0, .halo = theme_.floor, .role = "number"});
    }
  }

  std::span<const Episode> episodes_;
  const Theme& theme_;
  Range x_, y_;
};

}  // namespace

bool shows_path(const Episode& episode) {
  return episode.observation_dim == 6 && !episode.is_discrete() && episode.action_width == 2;
}

std::unique_ptr<Picture> make_path_picture(std::span<const Episode> episodes, const Theme& theme) {
  for (const auto& episode : episodes)
    if (!shows_path(episode))
      throw InvalidArgument(
          "episode {} is not a path through the plane: observations of 6 numbers (position, "
          "velocity, goal) and actions of 2 were expected; draw it as curves",
          episode.number);
  return std::make_unique<PathPicture>(episodes, theme);
}

}  // namespace kindred::render
