// Observations, return (where all episodes have one) and actions over time, each in a small plot
// of its own.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/render/axis.h"
#include "kindred/render/dimension_names.h"
#include "kindred/render/pictures.h"
#include "kindred/render/plot.h"

namespace kindred::render {
namespace {

constexpr std::int64_t kMostObservations = 12;  // unless dimensions are named
constexpr std::int64_t kMostActions = 12;
constexpr std::size_t kColumns = 3;  // of plots, where there is one episode
constexpr Size kPlotSize = {236.0, 84.0};
constexpr double kName = 20.0;  // the line above a plot
constexpr double kColumnGap = 28.0, kRowGap = 14.0;

/// One quantity over time, of every episode.
struct Quantity {
  std::string name;
  std::vector<std::vector<double>> values = {};  // [episodes][steps]
  bool whole = false;                            // only whole numbers, such as discrete actions
  Range range = {};
};

/// The corners of a curve: its ends, and in each column of pixels the least and the greatest value.
std::vector<Point> thinned(const std::vector<double>& values, const Plot& plot) {
  std::vector<Point> points;
  const auto keep = [&](std::size_t i) {
    points.push_back(plot.at({static_cast<double>(i), values[i]}));
  };
  const auto column = [&](std::size_t i) {
    return std::floor(plot.at({static_cast<double>(i), 0.0}).x);
  };
  keep(0);
  for (std::size_t begin = 0, end = 0; begin < values.size(); begin = end) {
    while (end < values.size() && column(end) == column(begin)) ++end;
    const auto [least, greatest] =
        std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(begin),
                            values.begin() + static_cast<std::ptrdiff_t>(end));
    const auto [first, second] = std::minmax(least, greatest);
    keep(static_cast<std::size_t>(first - values.begin()));
    if (first != second) keep(static_cast<std::size_t>(second - values.begin()));
  }
  keep(values.size() - 1);
  return points;
}

/// The same values, each held until the next.
std::vector<Point> stepped(const std::vector<Point>& points) {
  std::vector<Point> corners;
  for (const Point p : points) {
    if (!corners.empty()) corners.push_back({p.x, corners.back().y});
    corners.push_back(p);
  }
  return corners;
}

class CurvesPicture final : public Picture {
 public:
  CurvesPicture(std::span<const Episode> episodes, const Theme& theme,
                const std::string& environment, std::span<const std::int64_t> dimensions)
      : episodes_(episodes),
        theme_(theme),
        observations_(static_cast<std::int64_t>(dimensions.size())) {
    const auto& first = episodes.front();
    for (const auto d : dimensions)
      add(observation_name(environment, first.observation_dim, d),
          [d](const Episode& e, std::int64_t step) {
            return e.observation(step)[static_cast<std::size_t>(d)];
          });
    if (std::ranges::none_of(episodes, [](const Episode& e) { return e.returns.empty(); }))
      add("return so far", [](const Episode& e, std::int64_t step) {
        return e.returns[static_cast<std::size_t>(step)];
      });
    if (first.is_discrete()) {
      add("action", [](const Episode& e, std::int64_t step) {
        return e.discrete_actions[static_cast<std::size_t>(step)];
      });
      quantities_.back().whole = true;
    } else {
      for (std::int64_t d = 0; d < std::min(first.action_width, kMostActions); ++d)
        add(action_name(environment, first.action_width, d),
            [d](const Episode& e, std::int64_t step) {
              return e.continuous_actions[static_cast<std::size_t>(step * e.action_width + d)];
            });
    }
    for (const auto& episode : episodes) time_.include(static_cast<double>(episode.length) - 1.0);
    if (time_.width() == 0.0) time_.high = 1.0;
  }

  std::size_t columns() const override { return kMostAcross; }

  Size size_of(std::size_t) const override {
    const auto columns = plot_columns();
    const auto rows = (quantities_.size() + columns - 1) / columns;
    return {static_cast<double>(columns) * pitch().width - kColumnGap,
            static_cast<double>(rows) * pitch().height - kRowGap + Plot::kAxisName};
  }

  void draw(Svg& svg, Point corner, std::size_t episode) const override {
    const auto columns = plot_columns();
    for (std::size_t i = 0; i < quantities_.size(); ++i) {
      const bool lowest = i + columns >= quantities_.size();
      draw_quantity(svg, corner + tile(i, columns, pitch()), quantities_[i], episode, lowest);
    }
  }

  std::vector<LegendEntry> legend() const override {
    std::vector<LegendEntry> entries;
    for (const auto& [number, name] : groups())
      entries.push_back({name, 24.0, [this, number = number](Svg& svg, Point at) {
                           svg.line(at - Point{12.0, 0.0}, at + Point{12.0, 0.0},
                                    {.stroke = theme_.group(number), .width = 2.0});
                         }});
    const auto shown = [&](Ending ending) {
      return std::ranges::any_of(episodes_, [&](auto& e) { return e.ending == ending; });
    };
    if (shown(Ending::kTerminal))
      entries.push_back({"terminated", 12.0,
                         [this](Svg& svg, Point at) { draw_ending(svg, at, Ending::kTerminal); }});
    if (shown(Ending::kTimeout))
      entries.push_back({"cut off at the time limit", 12.0,
                         [this](Svg& svg, Point at) { draw_ending(svg, at, Ending::kTimeout); }});
    const auto dim = episodes_.front().observation_dim;
    if (observations_ < dim)
      entries.push_back({fmt::format("{} of {} dimensions of the observation", observations_, dim),
                         0.0, [](Svg&, Point) {}});
    return entries;
  }

 private:
  static constexpr std::size_t kMostAcross = 6;

  template <class Value>
  void add(std::string name, Value value) {
    Quantity quantity{.name = std::move(name)};
    std::vector<double> ends;
    for (const auto& episode : episodes_) {
      auto& values = quantity.values.emplace_back();
      for (std::int64_t step = 0; step < episode.length; ++step)
        values.push_back(static_cast<double>(value(episode, step)));
      const Range range = range_of(values);
      ends.insert(ends.end(), {range.low, range.high});
    }
    quantity.range = range_of(ends).padded(0.06);
    quantities_.push_back(std::move(quantity));
  }

  /// Several episodes stand side by side, so that each plot can be compared along its row.
  std::size_t plot_columns() const { return episodes_.size() == 1 ? kColumns : 1; }

  static Size pitch() {
    return {Plot::kLeft + kPlotSize.width + kColumnGap,
            kName + kPlotSize.height + Plot::kBelow + kRowGap};
  }

  /// The groups the colours stand for; of one episode the heading says it.
  std::map<std::int64_t, std::string> groups() const {
    std::map<std::int64_t, std::string> found;
    if (episodes_.size() == 1) return found;
    for (const auto& episode : episodes_)
      if (const auto& group = episode.shown_group()) found[group->number] = group->name;
    return found;
  }

  void draw_quantity(Svg& svg, Point corner, const Quantity& quantity, std::size_t index,
                     bool lowest) const {
    const auto& episode = episodes_[index];
    const auto& values = quantity.values[index];
    const auto& group = episode.shown_group();
    const Plot plot(corner + Point{Plot::kLeft, kName}, kPlotSize, time_, quantity.range, theme_);
    svg.group("plot", quantity.name, [&] {
      svg.text(corner + Point{Plot::kLeft, kName - 6.0},
               shortened(quantity.name, kPlotSize.width, 13.0), {.fill = theme_.text});
      plot.draw_axes(
          svg, whole_ticks(time_, 6),
          quantity.whole ? whole_ticks(quantity.range, 4) : round_ticks(quantity.range, 4));
      if (lowest) plot.name_axes(svg, "step", "");
      const auto points = thinned(values, plot);
      svg.polyline(
          quantity.whole ? stepped(points) : points,
          {.stroke = theme_.group(group ? group->number : 0), .width = 1.2, .role = "curve"});
      draw_ending(svg, plot.at({static_cast<double>(episode.length) - 1.0, values.back()}),
                  episode.ending);
    });
  }

  void draw_ending(Svg& svg, Point at, Ending ending) const {
    if (ending == Ending::kTerminal) {
      Outline cross;
      cross.move(at + Point{-4.0, -4.0}).line(at + Point{4.0, 4.0});
      cross.move(at + Point{-4.0, 4.0}).line(at + Point{4.0, -4.0});
      svg.path(cross, {.stroke = theme_.text, .width = 2.0, .role = "terminal"});
    } else if (ending == Ending::kTimeout) {
      svg.circle(at, 3.5,
                 {.fill = theme_.floor, .stroke = theme_.text, .width = 1.5, .role = "timeout"});
    }
  }

  std::span<const Episode> episodes_;
  const Theme& theme_;
  std::int64_t observations_;  // how many dimensions of them are drawn
  std::vector<Quantity> quantities_;
  Range time_;
};

/// The named dimensions, or the first few.
std::vector<std::int64_t> resolved(std::span<const std::int64_t> dimensions, std::int64_t count) {
  for (const auto d : dimensions)
    if (d < 0 || d >= count)
      throw InvalidArgument("there is no dimension {}; observations have dimensions 0 to {}", d,
                            count - 1);
  if (!dimensions.empty()) return {dimensions.begin(), dimensions.end()};
  std::vector<std::int64_t> first(static_cast<std::size_t>(std::min(count, kMostObservations)));
  std::iota(first.begin(), first.end(), 0);
  return first;
}

}  // namespace

std::unique_ptr<Picture> make_curves_picture(std::span<const Episode> episodes, const Theme& theme,
                                             const std::string& environment,
                                             std::span<const std::int64_t> dimensions) {
  return std::make_unique<CurvesPicture>(episodes, theme, environment,
                                         resolved(dimensions, episodes.front().observation_dim));
}

}  // namespace kindred::render
