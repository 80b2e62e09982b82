#include "kindred/reproduce/figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "kindred/render/axis.h"
#include "kindred/render/plot.h"
#include "kindred/render/svg.h"
#include "kindred/render/theme.h"

namespace kindred::reproduce {
namespace {

using namespace kindred::render;

constexpr Size kPanel{360.0, 270.0};  // with room for its names
constexpr Size kPlot{250.0, 180.0};
constexpr Point kInset{88.0, 34.0};
constexpr double kTickLabel = 30.0;  // three digits
constexpr double kLegendLine = 20.0;
constexpr Range kShare{0.0, 1.05};
constexpr double kAside = 0.1;  // of a cluster

struct Series {
  std::string name;
  std::string colour;
  bool level = false;  ///< One number, drawn as a dashed line.
};

constexpr const char* kDash = "6 4";

/// Panels two in a row, above each its title, under all of them what colours mean.
class Sheet {
 public:
  Sheet(std::size_t panels, std::string_view title, const std::vector<Series>& legend)
      : columns_(std::min<std::size_t>(panels, 2)),
        svg_({static_cast<double>(columns_) * kPanel.width,
              static_cast<double>((panels + columns_ - 1) / columns_) * kPanel.height +
                  kLegendLine * static_cast<double>(legend.size())},
             title, theme(false).background) {
    Point at{kInset.x, static_cast<double>((panels + columns_ - 1) / columns_) * kPanel.height};
    for (const auto& [name, colour, level] : legend) {
      if (level)
        svg_.line(at + Point{-8.0, 6.0}, at + Point{8.0, 6.0},
                  {.stroke = colour, .width = 1.5, .dash = kDash});
      else
        svg_.circle(at + Point{0.0, 6.0}, 5.0, {.fill = colour});
      svg_.text(at + Point{14.0, 10.0}, name, {.fill = theme(false).text, .size = 12.0});
      at.y += kLegendLine;
    }
  }

  /// The plot of the next panel, with its axes drawn.
  Plot next(const std::string& title, Range x, Range y, const Ticks& x_ticks,
            const std::string& x_name, const std::string& y_name) {
    const Point corner = tile(panel_++, columns_, kPanel) + kInset;
    const Plot plot(corner, kPlot, x, y, theme(false));
    plot.draw_axes(svg_, x_ticks, round_ticks(y, 6));
    plot.name_axes(svg_, x_name, "");
    svg_.text(corner + Point{-kTickLabel, 0.5 * kPlot.height}, y_name,
              {.fill = theme(false).text, .size = 12.0, .anchor = Anchor::kEnd});
    svg_.text(corner + Point{0.0, -10.0}, title,
              {.fill = theme(false).text, .size = 14.0, .bold = true});
    return plot;
  }

  Svg& svg() { return svg_; }
  std::string finish() && { return std::move(svg_).finish(); }

 private:
  std::size_t columns_;
  std::size_t panel_ = 0;
  Svg svg_;
};

/// NMI of each restart of each record, or of the records where they do not say.
std::vector<double> run_scores(const RecordList& records) {
  std::vector<double> values;
  for (const auto* record : records) {
    bool each = false;
    for (const auto& restart : record->at("restarts"))
      if (restart.contains("nmi")) {
        values.push_back(restart["nmi"].get<double>());
        each = true;
      }
    if (!each) values.push_back(record->at("result").at("nmi").get<double>());
  }
  return values;
}

struct Curve {
  Series series;
  std::vector<std::pair<double, std::vector<double>>> points{};  // k, NMI of each run
};

/// What each method found, by the number of clusters it was asked for.
std::vector<Curve> curves_of(const Results& results, const Task& task) {
  Curve merged{{"single runs, merged to k*", theme(false).group(0)}};
  Curve alone{{"single runs, not merged", theme(false).group(1)}};
  Curve dec{{"DEC", theme(false).group(2)}};
  const auto add = [&](Curve& curve, std::int64_t k, const std::string& configuration) {
    const auto records = results.records.clusterings(task.name, configuration);
    if (!records.empty()) curve.points.emplace_back(static_cast<double>(k), run_scores(records));
  };
  for (std::int64_t k = 2; k <= 10; ++k) {
    add(merged, k, fmt::format("pg-kmeans-k{}{}", k, k == task.k ? "" : "-merged"));
    add(alone, k, fmt::format("pg-kmeans-k{}", k));
    add(dec, k, k == task.k ? "dec" : fmt::format("dec-k{}", k));
  }
  return {merged, alone, dec};
}

/// What stands beside: Kindred's default and the oracle, where they are known.
struct Level {
  Series series;
  std::vector<double> nmi{};
};

std::vector<Level> levels_of(const Results& results, const Task& task) {
  const auto records = results.records.clusterings(task.name, "exact");
  return {{{"PG-Kmeans, default, told no k", theme(false).group(3), true},
           numbers(records, "result/nmi")},
          {{"oracle", theme(false).text, true}, numbers(records, "result/ceiling")}};
}

void draw_level(const Level& level, Range x, const Plot& plot, Svg& svg) {
  if (level.nmi.empty()) return;
  const double nmi = mean(level.nmi);
  svg.line(plot.at({x.low, nmi}), plot.at({x.high, nmi}),
           {.stroke = level.series.colour,
            .width = 1.5,
            .dash = kDash,
            .title = fmt::format("{}: {:.3f}", level.series.name, nmi)});
}

/// Series that some task has something of.
void add_levels(const Results& results, const std::vector<const Task*>& tasks,
                std::vector<Series>& legend) {
  for (std::size_t i = 0; i < 2; ++i)
    for (const auto* task : tasks)
      if (const auto level = levels_of(results, *task)[i]; !level.nmi.empty()) {
        legend.push_back(level.series);
        break;
      }
}

/// `aside` moves it a little, so that curves do not hide each other.
void draw_curve(const Curve& curve, double aside, const Plot& plot, Svg& svg) {
  std::vector<Point> line;
  for (const auto& [k, nmi] : curve.points) {
    const double middle = mean(nmi), spread = deviation(nmi), x = k + aside;
    line.push_back(plot.at({x, middle}));
    if (spread > 0.0)
      svg.line(plot.at({x, std::max(0.0, middle - spread)}),
               plot.at({x, std::min(1.0, middle + spread)}),
               {.stroke = curve.series.colour, .opacity = 0.5});
  }
  if (line.size() > 1) svg.polyline(line, {.stroke = curve.series.colour, .width = 2.0});
  for (std::size_t i = 0; i < line.size(); ++i)
    svg.circle(
        line[i], 3.5,
        {.fill = curve.series.colour,
         .title = fmt::format("{}: {:.3f}", curve.series.name, mean(curve.points[i].second))});
}

}  // namespace

std::string nmi_loss_figure(const Results& results) {
  std::vector<const Task*> shown;
  for (const char* name : {"extra", "path-following"})
    if (!results.records.clusterings(name, "caae").empty())
      shown.push_back(&results.declared.task(name));
  if (shown.empty()) return "";
  std::vector<Series> legend = {{"CAAE, one point per seed", theme(false).group(0)}};
  add_levels(results, shown, legend);
  Sheet sheet(shown.size(), "NMI against the loss of CAAE", legend);
  for (const auto* task : shown) {
    const auto records = results.records.clusterings(task->name, "caae");
    auto loss = numbers(records, "result/objective");
    const auto nmi = numbers(records, "result/nmi");
    for (auto& value : loss) value = -value;
    const auto range = range_of(loss).padded(0.08);
    const auto plot = sheet.next(task->title, range, kShare, round_ticks(range, 5), "loss", "NMI");
    for (const auto& level : levels_of(results, *task)) draw_level(level, range, plot, sheet.svg());
    for (std::size_t i = 0; i < std::min(loss.size(), nmi.size()); ++i)
      sheet.svg().circle(plot.at({loss[i], nmi[i]}), 4.0,
                         {.fill = theme(false).group(0), .opacity = 0.8});
  }
  return std::move(sheet).finish();
}

std::string nmi_k_figure(const Results& results) {
  std::vector<const Task*> shown;
  for (const auto* task : results.declared.tasks_of("shared"))
    for (const auto& curve : curves_of(results, *task))
      if (curve.points.size() > 1) {
        shown.push_back(task);
        break;
      }
  if (shown.empty()) return "";
  std::vector<Series> legend;
  for (const auto& curve : curves_of(results, *shown[0])) legend.push_back(curve.series);
  add_levels(results, shown, legend);
  Sheet sheet(shown.size(), "NMI against the number of clusters", legend);
  for (const auto* task : shown) {
    const Range ks{1.5, 10.5};
    const auto plot = sheet.next(task->title, ks, kShare, whole_ticks(ks, 9), "k", "NMI");
    for (const auto& level : levels_of(results, *task)) draw_level(level, ks, plot, sheet.svg());
    double aside = -kAside;
    for (const auto& curve : curves_of(results, *task)) {
      draw_curve(curve, aside, plot, sheet.svg());
      aside += kAside;
    }
  }
  return std::move(sheet).finish();
}

/// The clusters' counts, those with lower returns first: colours repeat only far apart.
std::vector<std::vector<double>> by_return(const Json& record) {
  auto clusters = record.at("clusters").get<std::vector<std::vector<double>>>();
  const auto mean_bin = [](const std::vector<double>& counts) {
    double sum = 0.0, all = 1e-9;  // a cluster may be empty
    for (std::size_t b = 0; b < counts.size(); ++b) {
      sum += static_cast<double>(b) * counts[b];
      all += counts[b];
    }
    return sum / all;
  };
  std::ranges::stable_sort(clusters, {}, mean_bin);
  return clusters;
}

std::string histogram_figure(const Results& results) {
  std::vector<std::pair<std::string, const Json*>> shown;
  for (const auto& wanted : results.declared.item("histograms").measurements)
    for (const auto& task : wanted.tasks)
      if (const auto* record = results.records.find(
              returns_name(record_name(task, wanted.configurations[0], wanted.seeds[0]))))
        shown.emplace_back(
            fmt::format("{}, {} {}", results.declared.task(task).title,
                        record->at("clusters").size(),
                        wanted.configurations[0] == "exact" ? "found by default" : "clusters"),
            record);
  if (shown.empty()) return "";
  Sheet sheet(shown.size(), "Returns of the episodes in each cluster", {});
  for (const auto& [title, record] : shown) {
    const auto clusters = by_return(*record);
    const auto bins = clusters[0].size();
    std::vector<double> heights(bins, 0.0);
    for (const auto& cluster : clusters)
      for (std::size_t b = 0; b < bins; ++b) heights[b] += cluster[b];
    const Range returns{record->at("least").get<double>(), record->at("most").get<double>()};
    const Range counts{0.0, std::max(1.0, most(heights)) * 1.05};
    const auto plot =
        sheet.next(title, returns, counts, round_ticks(returns, 5), "return", "episodes");
    std::vector<double> floor(bins, 0.0);  // clusters stand on each other
    for (std::size_t c = 0; c < clusters.size(); ++c)
      for (std::size_t b = 0; b < bins; ++b) {
        if (clusters[c][b] == 0.0) continue;
        const double step = returns.width() / static_cast<double>(bins);
        const Point corner =
            plot.at({returns.low + static_cast<double>(b) * step, floor[b] + clusters[c][b]});
        const Point end = plot.at({returns.low + static_cast<double>(b + 1) * step, floor[b]});
        sheet.svg().rectangle(corner, {end.x - corner.x, end.y - corner.y},
                              {.fill = theme(false).group(static_cast<std::int64_t>(c)),
                               .title = fmt::format("cluster {} by return", c + 1)});
        floor[b] += clusters[c][b];
      }
  }
  return std::move(sheet).finish();
}

}  // namespace kindred::reproduce
