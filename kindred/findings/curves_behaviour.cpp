// Observations and actions of each cluster as numbers over time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kindred/findings/behaviour.h"
#include "kindred/findings/names.h"
#include "kindred/render/render.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kDimensions = 32;  // shown: those that tell clusters apart best
constexpr std::int64_t kTimes = 100, kCurveEpisodes = 200, kStatisticSteps = 50'000, kBins = 40;
constexpr std::array kLevels = {0.05, 0.25, 0.5, 0.75, 0.95};

/// Reorders the values.
double quantile(std::vector<double>& values, double level) {
  const auto at = std::min(values.size() - 1,
                           static_cast<std::size_t>(level * static_cast<double>(values.size())));
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(at));
  return values[at];
}

/// Mean and standard deviation of every number in a row.
struct Moments {
  std::vector<double> mean, deviation;

  Moments(const std::vector<float>& rows, std::int64_t width)
      : mean(static_cast<std::size_t>(width), 0.0), deviation(mean) {
    const auto w = static_cast<std::size_t>(width);
    const auto steps = rows.size() / w;
    const double count = std::max(1.0, static_cast<double>(steps));
    for (std::size_t i = 0; i < rows.size(); ++i) mean[i % w] += rows[i] / count;
    for (std::size_t i = 0; i < rows.size(); ++i)
      deviation[i % w] += std::pow(rows[i] - mean[i % w], 2) / count;
    for (auto& value : deviation) value = std::sqrt(value);
  }
};

class CurvesBehaviour final : public Behaviour {
 public:
  explicit CurvesBehaviour(const RunData& found) : found_(found) {
    for (const auto& members : found.members) {
      const auto steps = some_steps(members);
      observed_.emplace_back(rows(steps), found.data.observations.dim());
      steps_.push_back(steps);
    }
    choose_dimensions();
    choose_times();
  }

  std::int64_t step_numbers() const override {
    return static_cast<std::int64_t>(dimensions_.size()) + found_.data.actions.dim();
  }

  Json clusters() const override {
    const auto& data = found_.data;
    auto observation_names = Json::array(), action_names = Json::array(), list = Json::array();
    for (const auto i : dimensions_) observation_names.push_back(observation_name(data, i));
    const auto actions = data.actions.is_discrete() ? data.actions.count() : data.actions.dim();
    for (std::int64_t i = 0; i < actions; ++i) action_names.push_back(action_name(data, i));
    const auto edges = action_edges();
    for (std::size_t c = 0; c < steps_.size(); ++c) list.push_back(cluster(c, edges));
    return {{"kind", "curves"},
            {"observation_names", observation_names},
            {"action_names", action_names},
            {"levels", kLevels},
            {"times", times_},
            {"clusters", list},
            {"histogram_edges", edges.empty() ? Json() : edge_lists(edges)}};
  }

  void add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                 Json& trajectory) const override {
    const auto dim = static_cast<std::size_t>(found_.data.observations.dim());
    std::vector<std::int64_t> at;
    for (const auto step : steps) at.push_back(found_.data.offsets[episode] + step);
    const auto values = rows(at);
    auto curves = Json::array();
    for (const auto i : dimensions_) {
      std::vector<float> curve;
      for (std::size_t t = 0; t < at.size(); ++t)
        curve.push_back(values[t * dim + static_cast<std::size_t>(i)]);
      curves.push_back(brief_list(curve));
    }
    trajectory["curves"] = curves;
  }

 private:
  std::vector<float> rows(const std::vector<std::int64_t>& steps) const {
    std::vector<float> values(steps.size() *
                              static_cast<std::size_t>(found_.data.observations.dim()));
    found_.data.observations.gather(steps, values.data());
    return values;
  }

  /// Steps for statistics, evenly spread over a cluster's episodes.
  std::vector<std::int64_t> some_steps(const std::vector<std::int64_t>& members) const {
    std::int64_t all = 0;
    for (const auto episode : members) all += found_.data.length(episode);
    const auto stride = stride_for(all, kStatisticSteps);
    std::vector<std::int64_t> steps;
    std::int64_t passed = 0;
    for (const auto episode : members)
      for (auto step = found_.data.offsets[episode]; step < found_.data.offsets[episode + 1];
           ++step)
        if (passed++ % stride == 0) steps.push_back(step);
    return steps;
  }

  /// The largest difference of two clusters' means, in standard deviations.
  double separation(std::size_t dimension) const {
    double most = 0.0;
    for (const auto& a : observed_)
      for (const auto& b : observed_) {
        const double pooled = std::hypot(a.deviation[dimension], b.deviation[dimension]);
        most = std::max(most,
                        std::abs(a.mean[dimension] - b.mean[dimension]) / std::max(pooled, 1e-9));
      }
    return most;
  }

  void choose_dimensions() {
    dimensions_.resize(static_cast<std::size_t>(found_.data.observations.dim()));
    std::iota(dimensions_.begin(), dimensions_.end(), 0);
    if (std::ssize(dimensions_) <= kDimensions) return;
    std::ranges::stable_sort(dimensions_, std::greater{},
                             [&](auto i) { return separation(static_cast<std::size_t>(i)); });
    dimensions_.resize(kDimensions);
    std::ranges::sort(dimensions_);
  }

  void choose_times() {
    std::int64_t longest = 1;
    for (std::int64_t i = 0; i < found_.data.episodes(); ++i)
      longest = std::max(longest, found_.data.length(i));
    for (std::int64_t t = 0; t < longest; t += stride_for(longest, kTimes)) times_.push_back(t);
  }

  double action(std::int64_t step, std::int64_t i) const {
    return found_.data.actions.floats()[step * found_.data.actions.dim() + i];
  }

  /// [dim, kBins + 1], from the least to the greatest value of each number; none where actions are
  /// discrete.
  std::vector<std::vector<double>> action_edges() const {
    std::vector<std::vector<double>> all;
    if (found_.data.actions.is_discrete()) return all;
    for (std::int64_t i = 0; i < found_.data.actions.dim(); ++i) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const auto& steps : steps_)
        for (const auto step : steps) {
          low = std::min(low, action(step, i));
          high = std::max(high, action(step, i));
        }
      if (!(high > low)) low -= 0.5, high += 0.5;
      auto& edges = all.emplace_back();
      for (std::int64_t bin = 0; bin <= kBins; ++bin)
        edges.push_back(low + (high - low) * static_cast<double>(bin) / kBins);
    }
    return all;
  }

  static Json edge_lists(const std::vector<std::vector<double>>& edges) {
    auto lists = Json::array();
    for (const auto& own : edges) lists.push_back(brief_list(own));
    return lists;
  }

  Json cluster(std::size_t c, const std::vector<std::vector<double>>& edges) const {
    std::vector<double> mean, deviation;
    for (const auto i : dimensions_) {
      mean.push_back(observed_[c].mean[static_cast<std::size_t>(i)]);
      deviation.push_back(observed_[c].deviation[static_cast<std::size_t>(i)]);
    }
    Json json = {
        {"observation", {{"mean", brief_list(mean)}, {"deviation", brief_list(deviation)}}},
        {"action", nullptr},
        {"action_histogram", nullptr},
        {"action_counts", nullptr}};
    if (found_.data.actions.is_discrete())
      add_action_counts(c, json);
    else
      add_action_statistics(c, edges, json);
    add_curves(found_.members[c], json);
    return json;
  }

  void add_action_counts(std::size_t c, Json& json) const {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(found_.data.actions.count()), 0);
    for (const auto step : steps_[c])
      ++counts[static_cast<std::size_t>(found_.data.actions.ints()[step])];
    json["action_counts"] = counts;
  }

  void add_action_statistics(std::size_t c, const std::vector<std::vector<double>>& all_edges,
                             Json& json) const {
    std::vector<double> mean, deviation;
    auto quantiles = Json::array(), histograms = Json::array();
    for (std::int64_t i = 0; i < found_.data.actions.dim(); ++i) {
      const auto& edges = all_edges[static_cast<std::size_t>(i)];
      std::vector<double> values;
      for (const auto step : steps_[c]) values.push_back(action(step, i));
      const Moments moments({values.begin(), values.end()}, 1);
      mean.push_back(moments.mean.front());
      deviation.push_back(moments.deviation.front());
      std::vector<std::int64_t> histogram(kBins, 0);
      for (const double value : values) {
        const double share = (value - edges.front()) / (edges.back() - edges.front());
        const auto bin = static_cast<std::int64_t>(share * kBins);
        ++histogram[static_cast<std::size_t>(std::clamp<std::int64_t>(bin, 0, kBins - 1))];
      }
      histograms.push_back(histogram);
      std::vector<double> levels;
      for (const double level : kLevels) levels.push_back(quantile(values, level));
      quantiles.push_back(brief_list(levels));
    }
    json["action"] = {
        {"mean", brief_list(mean)}, {"deviation", brief_list(deviation)}, {"quantiles", quantiles}};
    json["action_histogram"] = histograms;
  }

  void add_curves(const std::vector<std::int64_t>& members, Json& json) const {
    const auto some = spread(members, kCurveEpisodes);
    const auto dims = dimensions_.size();
    const auto width = static_cast<std::size_t>(found_.data.observations.dim());
    std::vector<std::vector<double>> mean(dims), low(dims), high(dims);
    std::vector<double> running;
    for (const auto time : times_) {
      std::vector<std::int64_t> steps;
      for (const auto episode : some)
        if (time < found_.data.length(episode))
          steps.push_back(found_.data.offsets[episode] + time);
      running.push_back(static_cast<double>(steps.size()) / static_cast<double>(some.size()));
      if (steps.empty()) break;  // the others would only be nulls
      const auto values = rows(steps);
      for (std::size_t d = 0; d < dims; ++d) {
        std::vector<double> now;
        for (std::size_t i = 0; i < steps.size(); ++i)
          now.push_back(values[i * width + static_cast<std::size_t>(dimensions_[d])]);
        mean[d].push_back(std::accumulate(now.begin(), now.end(), 0.0) /
                          static_cast<double>(now.size()));
        low[d].push_back(quantile(now, 0.1));
        high[d].push_back(quantile(now, 0.9));
      }
    }
    auto curves = Json::array();
    for (std::size_t d = 0; d < dims; ++d)
      curves.push_back({{"mean", brief_list(mean[d])},
                        {"low", brief_list(low[d])},
                        {"high", brief_list(high[d])}});
    json["curves"] = curves;
    json["running"] = brief_list(running);
  }

  const RunData& found_;
  std::vector<std::vector<std::int64_t>> steps_;  // [k]: those the statistics are made of
  std::vector<Moments> observed_;                 // [k]
  std::vector<std::int64_t> dimensions_;          // of observations: those shown
  std::vector<std::int64_t> times_;
};

}  // namespace

std::unique_ptr<Behaviour> make_curves_behaviour(const RunData& found) {
  return std::make_unique<CurvesBehaviour>(found);
}

std::unique_ptr<Behaviour> make_behaviour(const RunData& found) {
  switch (choose_drawing(found.data, 0)) {
    case Drawing::kGrid:
      return make_grid_behaviour(found);
    case Drawing::kPath:
      return make_path_behaviour(found);
    default:
      return make_curves_behaviour(found);
  }
}

}  // namespace kindred::findings
