// The whole route through a gridworld on one map.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "kindred/render/axis.h"
#include "kindred/render/grid_map.h"
#include "kindred/render/grid_trace.h"
#include "kindred/render/grid_way.h"
#include "kindred/render/pictures.h"
#include "kindred/render/signs.h"

namespace kindred::render {
namespace {

constexpr double kNumberSize = 12.0;

class GridWayPicture final : public Picture {
 public:
  GridWayPicture(std::span<const Episode> episodes, const Theme& theme, const std::string& object)
      : theme_(theme), object_(object) {
    for (const auto& episode : episodes) traces_.push_back(trace_grid(episode));
  }

  std::size_t columns() const override { return 3; }

  Size size_of(std::size_t episode) const override {
    return map_at({}, traces_[episode].scenes.front()).size();
  }

  void draw(Svg& svg, Point corner, std::size_t episode) const override {
    const auto& trace = traces_[episode];
    const auto& scene = trace.scenes.front();
    const GridMap map = map_at(corner, scene);
    map.draw_ground(svg, scene);
    if (scene.goal) draw_goal(svg, map.centre(*scene.goal), 0.4 * map.side());
    for (const auto& object : scene.objects) draw_object(svg, map, object, trace.taken_at(object));
    const GridWay way = lay_way(trace.cells, map);
    draw_start(svg, map.centre(trace.cells.front()), 0.3 * map.side(), theme_);
    draw_way(svg, way.line, {.rounding = 0.3 * map.side()});
    for (const auto i : way.pauses)
      svg.circle(way.places[i], 3.0,
                 {.fill = time_colour(share(i, trace.cells.size())), .role = "pause"});
    draw_slips(svg, trace, way.places, map.side());
    draw_numbers(svg, trace, map);
  }

  std::vector<LegendEntry> legend() const override {
    std::vector<LegendEntry> entries = {start_entry(theme_), goal_entry(), time_entry()};
    if (any_objects()) {
      entries.push_back({object_, 16.0, [this](Svg& svg, Point at) {
                           svg.circle(at, 7.0, object_look(theme_.muted, false));
                         }});
      entries.push_back({object_ + " reached", 16.0, [this](Svg& svg, Point at) {
                           svg.circle(at, 7.0, object_look(theme_.muted, true));
                         }});
    }
    if (any_pauses())
      entries.push_back({"stayed", 8.0, [](Svg& svg, Point at) {
                           svg.circle(at, 3.0, {.fill = time_colour(0.5)});
                         }});
    if (any_slips())
      entries.push_back(
          {"slipped: move chosen, not made", 16.0, [this](Svg& svg, Point at) {
             draw_arrow(svg, at - Point{7.0, 0.0}, at + Point{7.0, 0.0}, 5.0, slip_look());
           }});
    return entries;
  }

 private:
  GridMap map_at(Point corner, const GridScene& scene) const {
    return GridMap(corner, scene.size, std::clamp(400.0 / scene.size, 28.0, 44.0), theme_);
  }

  Look slip_look() const { return {.stroke = theme_.text, .width = 2.0, .role = "slip"}; }

  Look object_look(const std::string& colour, bool reached) const {
    return {
        .fill = reached ? colour : theme_.floor, .stroke = colour, .width = 2.0, .role = "object"};
  }

  void draw_object(Svg& svg, const GridMap& map, const GridObject& object,
                   std::optional<std::size_t> reached) const {
    auto look = object_look(theme_.group(object.number), reached.has_value());
    look.title = fmt::format("{} {}", object_, object.number);
    if (reached) look.title += fmt::format(", reached at step {}", *reached);
    svg.circle(map.centre(object.cell), 0.3 * map.side(), look);
  }

  void draw_slips(Svg& svg, const GridTrace& trace, const std::vector<Point>& points,
                  double side) const {
    for (const auto step : trace.slips()) {
      auto look = slip_look();
      look.title = trace.describe(step);
      const Cell towards = neighbour({0, 0}, trace.chosen[step]);
      const Point way{0.36 * side * towards.column, 0.36 * side * towards.row};
      if (trace.chosen[step] == Move::kStay)
        svg.circle(points[step], 0.14 * side, look);
      else
        draw_arrow(svg, points[step], points[step] + way, 0.12 * side, look);
    }
  }

  /// Numbers of objects, and of some steps in corners of their cells that are still free.
  void draw_numbers(Svg& svg, const GridTrace& trace, const GridMap& map) const {
    std::set<std::array<int, 3>> used;  // row, column, corner
    const auto free = [&](Cell cell, int corner) {
      return used.insert({cell.row, cell.column, corner}).second;
    };
    TextLook look{.fill = theme_.text, .size = kNumberSize, .bold = true, .halo = theme_.floor};
    for (const auto& [number, cell] : trace.scenes.front().objects)
      if (free(cell, 0)) svg.text(map.corner_text(cell, 0), std::to_string(number), look);
    for (const auto step : trace.slips())
      if (trace.chosen[step] == Move::kDown)  // its arrow is there
        free(trace.cells[step], 2), free(trace.cells[step], 3);

    look.bold = false;
    look.role = "number";
    for (const double step :
         whole_ticks({0.0, static_cast<double>(trace.cells.size()) - 0.5}, 9).values) {
      const Cell cell = trace.cells[static_cast<std::size_t>(step)];
      constexpr std::array kCorners = {3, 2, 1, 0};
      const auto corner = std::ranges::find_if(kCorners, [&](int c) { return free(cell, c); });
      if (corner == kCorners.end()) continue;
      look.anchor = *corner % 2 == 1 ? Anchor::kEnd : Anchor::kStart;
      svg.text(map.corner_text(cell, *corner), fmt::format("{:.0f}", step), look);
    }
  }

  bool any_objects() const {
    return std::ranges::any_of(traces_, [](auto& t) { return !t.scenes.front().objects.empty(); });
  }

  bool any_pauses() const {
    return std::ranges::any_of(
        traces_, [](auto& t) { return std::ranges::adjacent_find(t.cells) != t.cells.end(); });
  }

  bool any_slips() const {
    return std::ranges::any_of(traces_, [](auto& t) { return !t.slips().empty(); });
  }

  const Theme& theme_;
  std::string object_;
  std::vector<GridTrace> traces_;
};

}  // namespace

std::unique_ptr<Picture> make_grid_picture(std::span<const Episode> episodes, const Theme& theme,
                                           const std::string& object) {
  return std::make_unique<GridWayPicture>(episodes, theme, object);
}

}  // namespace kindred::render
