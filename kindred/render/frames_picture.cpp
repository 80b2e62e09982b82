// Every step in a gridworld as a small map of its own.
#include <algorithm>
#include <set>

#include "kindred/core/error.h"
#include "kindred/render/grid_map.h"
#include "kindred/render/grid_trace.h"
#include "kindred/render/pictures.h"
#include "kindred/render/signs.h"

namespace kindred::render {
namespace {

constexpr std::size_t kPerRow = 8;
constexpr std::size_t kMostFrames = 400;  // of one episode
constexpr double kGap = 14.0;             // between frames
constexpr double kCaption = 18.0;
constexpr double kCaptionSize = 12.0;
constexpr double kWidestCaption = 104.0;  // "100 right, slip"

class FramesPicture final : public Picture {
 public:
  FramesPicture(std::span<const Episode> episodes, const Theme& theme, const std::string& object)
      : theme_(theme), object_(object) {
    for (const auto& episode : episodes) {
      traces_.push_back(trace_grid(episode));
      if (traces_.back().cells.size() > kMostFrames)
        throw InvalidArgument(
            "episode {} would take {} frames, more than the {} of one picture; "
            "draw its route instead",
            episode.number, traces_.back().cells.size(), kMostFrames);
    }
  }

  std::size_t columns() const override { return 1; }

  Size size_of(std::size_t episode) const override {
    const auto frames = traces_[episode].cells.size();
    const auto rows = (frames + kPerRow - 1) / kPerRow;
    const Size frame = pitch(traces_[episode]);
    return {static_cast<double>(kPerRow) * frame.width - kGap,
            static_cast<double>(rows) * frame.height - kGap};
  }

  void draw(Svg& svg, Point corner, std::size_t episode) const override {
    const auto& trace = traces_[episode];
    for (std::size_t i = 0; i < trace.cells.size(); ++i)
      svg.group("frame", title_of(trace, i),
                [&] { draw_frame(svg, corner + tile(i, kPerRow, pitch(trace)), trace, i); });
  }

  std::vector<LegendEntry> legend() const override {
    std::vector<LegendEntry> entries = {
        {"agent", 12.0, [this](Svg& svg, Point at) { draw_agent(svg, at, 5.0); }}, goal_entry()};
    for (const int number : object_numbers())
      entries.push_back(
          {fmt::format("{} {}", object_, number), 10.0,
           [this, number](Svg& svg, Point at) { draw_object(svg, at, 5.0, number); }});
    entries.push_back({"action chosen (ring: stay)", 18.0, [this](Svg& svg, Point at) {
                         draw_action(svg, at - Point{9.0, 0.0}, Move::kRight, 9.0, false);
                       }});
    entries.push_back({"chosen, but slipped", 18.0, [this](Svg& svg, Point at) {
                         draw_action(svg, at - Point{9.0, 0.0}, Move::kRight, 9.0, true);
                       }});
    return entries;
  }

 private:
  static double side(const GridTrace& trace) {
    return std::clamp(108.0 / trace.scenes.front().size, 6.0, 14.0);
  }

  /// From one frame to the next.
  static Size pitch(const GridTrace& trace) {
    const double map = trace.scenes.front().size * side(trace);
    return {std::max(map, kWidestCaption) + kGap, kCaption + map + kGap};
  }

  static std::string title_of(const GridTrace& trace, std::size_t i) {
    if (i + 1 < trace.cells.size()) return trace.describe(i);
    return fmt::format("after {} steps", i);
  }

  static std::string caption(const GridTrace& trace, std::size_t i) {
    if (i == trace.chosen.size()) return fmt::format("{} goal", i);
    const std::string move = move_names()[static_cast<std::size_t>(trace.chosen[i])];
    return fmt::format("{} {}{}", i, move, trace.slipped(i) ? ", slip" : "");
  }

  void draw_frame(Svg& svg, Point corner, const GridTrace& trace, std::size_t i) const {
    const bool acts = i < trace.chosen.size();
    const auto& scene = trace.scenes[acts ? i : i - 1];
    const GridMap map(corner + Point{0.0, kCaption}, scene.size, side(trace), theme_);
    const Point agent = map.centre(trace.cells[i]);
    svg.text(corner + Point{0.0, kCaption - 6.0}, caption(trace, i),
             {.fill = trace.slipped(i) ? slip_colour() : theme_.text, .size = kCaptionSize});
    map.draw_ground(svg, scene);
    if (scene.goal) draw_goal(svg, map.centre(*scene.goal), 0.55 * map.side());
    for (const auto& object : scene.objects)
      draw_object(svg, map.centre(object.cell), 0.36 * map.side(), object.number);
    draw_agent(svg, agent, 0.36 * map.side());
    if (acts) draw_action(svg, agent, trace.chosen[i], map.side(), trace.slipped(i));
  }

  void draw_object(Svg& svg, Point at, double radius, int number) const {
    svg.circle(at, radius, {.fill = theme_.group(number), .role = "object"});
  }

  void draw_agent(Svg& svg, Point at, double radius) const {
    svg.circle(at, radius, {.fill = theme_.text, .role = "agent"});
  }

  static std::string slip_colour() { return kVermillion; }

  /// An arrow over two cells; a ring where the action is to stay.
  void draw_action(Svg& svg, Point agent, Move move, double side, bool slipped) const {
    const Look look{.stroke = slipped ? slip_colour() : theme_.text,
                    .width = 2.0,
                    .role = slipped ? "slip" : "action"};
    const Cell towards = neighbour({0, 0}, move);
    if (move == Move::kStay)
      svg.circle(agent, 0.7 * side, look);
    else
      draw_arrow(svg, agent, agent + 2.0 * side * Point{1.0 * towards.column, 1.0 * towards.row},
                 0.5 * side, look);
  }

  std::set<int> object_numbers() const {
    std::set<int> numbers;
    for (const auto& trace : traces_)
      for (const auto& object : trace.scenes.front().objects) numbers.insert(object.number);
    return numbers;
  }

  const Theme& theme_;
  std::string object_;
  std::vector<GridTrace> traces_;
};

}  // namespace

std::unique_ptr<Picture> make_frames_picture(std::span<const Episode> episodes, const Theme& theme,
                                             const std::string& object) {
  return std::make_unique<FramesPicture>(episodes, theme, object);
}

}  // namespace kindred::render
