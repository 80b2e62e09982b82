#include "kindred/methods/policy_search/views.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kindred/policies/exact_policies.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kMostPastNumbers = 60;  // of which a history is looked at
constexpr double kSameUnits = 0.5;             // least correlation of a target with its number
constexpr double kUnlike = 2.0;                // deviations by which units may differ, times

/// Mean and deviation of a column of numbers, `stride` apart.
struct ColumnMoments {
  double mean = 0.0, deviation = 0.0;
};

ColumnMoments moments_of(const std::vector<float>& rows, std::int64_t stride, std::int64_t column) {
  const auto n = std::ssize(rows) / stride;
  double sum = 0.0, squares = 0.0;
  for (std::int64_t t = 0; t < n; ++t) {
    const double x = rows[static_cast<std::size_t>(t * stride + column)];
    sum += x;
    squares += x * x;
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(1, n));
  return {sum / count, std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)))};
}

std::vector<float> observations_of(const Trajectories& data) {
  std::vector<float> rows(static_cast<std::size_t>(data.steps() * data.observations.dim()));
  data.observations.copy(0, data.steps(), rows.data());
  return rows;
}

/// Actions as numbers: [steps, width]; of discrete ones a 1 in the place of the one taken.
std::vector<float> actions_of(const Trajectories& data) {
  if (!data.actions.is_discrete()) {
    const auto all = data.actions.floats().span();
    return {all.begin(), all.end()};
  }
  const auto width = data.actions.count();
  std::vector<float> rows(static_cast<std::size_t>(data.steps() * width), 0.0F);
  for (std::int64_t t = 0; t < data.steps(); ++t)
    rows[static_cast<std::size_t>(t * width + data.actions.ints()[t])] = 1.0F;
  return rows;
}

/// For every number of a continuous action the number of the observation that it is a target for:
/// of the same size, about the same mean, and following it. Nothing where one has none.
std::optional<std::vector<std::int64_t>> targets_in_observation(const Trajectories& data) {
  if (data.actions.is_discrete() || data.actions.dim() > data.observations.dim())
    return std::nullopt;
  const auto dim = data.observations.dim(), width = data.actions.dim();
  const auto seen = observations_of(data), done = actions_of(data);
  std::vector<std::int64_t> result;
  for (std::int64_t d = 0; d < width; ++d) {
    const auto action = moments_of(done, width, d);
    double best = kSameUnits;
    std::int64_t found = -1;
    for (std::int64_t j = 0; j < dim; ++j) {
      const auto number = moments_of(seen, dim, j);
      if (action.deviation <= 0.0 || number.deviation <= 0.0 ||
          number.deviation > kUnlike * action.deviation ||
          action.deviation > kUnlike * number.deviation ||
          std::abs(number.mean - action.mean) > kUnlike * action.deviation ||
          std::ranges::count(result, j) > 0)
        continue;
      double product = 0.0;
      for (std::int64_t t = 0; t < data.steps(); ++t)
        product += (done[static_cast<std::size_t>(t * width + d)] - action.mean) *
                   (seen[static_cast<std::size_t>(t * dim + j)] - number.mean);
      const double correlation =
          product / (static_cast<double>(data.steps()) * action.deviation * number.deviation);
      if (correlation <= best) continue;
      best = correlation;
      found = j;
    }
    if (found < 0) return std::nullopt;
    result.push_back(found);
  }
  return result;
}

/// Rows of numbers that grow to the right.
class WideRows {
 public:
  WideRows(const Trajectories& data, std::int64_t width) : width_(width) {
    values_.reserve(static_cast<std::size_t>(data.steps() * width));
  }

  void add(float value) { values_.push_back(value); }
  Observations take() { return Observations::dense(Column<float>(std::move(values_)), width_); }

 private:
  std::int64_t width_;
  std::vector<float> values_;
};

/// Less their means over the episode: [steps, width].
void centre_in_episodes(const Trajectories& data, std::int64_t width, std::vector<float>& rows) {
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (std::int64_t c = 0; c < width; ++c) {
      double sum = 0.0;
      for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
        sum += rows[static_cast<std::size_t>(t * width + c)];
      const auto mean = static_cast<float>(sum / static_cast<double>(data.length(i)));
      for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
        rows[static_cast<std::size_t>(t * width + c)] -= mean;
    }
}

/// The observation, its change and as many actions before as asked for; where there was no step
/// before, zeros.
Observations with_past(const Trajectories& data, bool change, std::int64_t actions_before) {
  const auto dim = data.observations.dim();
  const auto seen = observations_of(data), done = actions_of(data);
  const auto width = std::ssize(done) / std::max<std::int64_t>(1, data.steps());
  WideRows rows(data, dim * (change ? 2 : 1) + width * actions_before);
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t) {
      const auto at = [&](std::int64_t step, std::int64_t j) {
        return seen[static_cast<std::size_t>(step * dim + j)];
      };
      for (std::int64_t j = 0; j < dim; ++j) rows.add(at(t, j));
      for (std::int64_t j = 0; change && j < dim; ++j)
        rows.add(t > data.offsets[i] ? at(t, j) - at(t - 1, j) : 0.0F);
      for (std::int64_t back = 1; back <= actions_before; ++back)
        for (std::int64_t d = 0; d < width; ++d)
          rows.add(t - back >= data.offsets[i]
                       ? done[static_cast<std::size_t>((t - back) * width + d)]
                       : 0.0F);
    }
  return rows.take();
}

}  // namespace

std::string name_of(View view) {
  switch (view) {
    case View::kRecorded:
      return "as recorded";
    case View::kPreviousAction:
      return "with the previous action";
    case View::kChange:
      return "with the change of state";
    case View::kNoise:
      return "by the size of their noise";
    case View::kRelative:
      return "relative to the state, centred in each episode";
  }
  return "";
}

std::vector<View> views_of(const Trajectories& data) {
  std::vector<View> views{View::kRecorded};
  if (data.observations.dim() <= kMostPastNumbers) {
    views.push_back(View::kPreviousAction);
    views.push_back(View::kChange);
  }
  if (targets_in_observation(data)) views.push_back(View::kRelative);
  return views;
}

std::vector<double> variance_left_out(const Trajectories& data, const ActionTargets& targets) {
  const auto dim = data.observations.dim(), width = data.actions.dim();
  const auto seen = observations_of(data), done = actions_of(data);
  const auto columns = *targets_in_observation(data);
  std::vector<float> means(static_cast<std::size_t>(data.episodes() * width));
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (std::int64_t d = 0; d < width; ++d) {
      double sum = 0.0;
      for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
        sum += done[static_cast<std::size_t>(t * width + d)] -
               seen[static_cast<std::size_t>(t * dim + columns[static_cast<std::size_t>(d)])];
      means[static_cast<std::size_t>(i * width + d)] =
          static_cast<float>(sum / static_cast<double>(data.length(i)));
    }
  std::vector<double> result;
  const auto units =
      targets.deviations(std::vector<double>(static_cast<std::size_t>(targets.count()), 1.0));
  for (std::int64_t d = 0; d < width; ++d)
    if (units[static_cast<std::size_t>(d)] > 0.0)
      result.push_back(
          std::pow(moments_of(means, width, d).deviation / units[static_cast<std::size_t>(d)], 2));
  return result;
}

Trajectories seen_as(View view, const Trajectories& data) {
  auto result = data;
  switch (view) {
    case View::kRecorded:
    case View::kNoise:
      break;
    case View::kPreviousAction:
      result.observations = with_past(data, false, 1);
      break;
    case View::kChange:
      result.observations = with_past(data, true, 0);
      break;
    case View::kRelative: {
      const auto dim = data.observations.dim(), width = data.actions.dim();
      auto seen = observations_of(data);
      auto done = actions_of(data);
      const auto targets = *targets_in_observation(data);
      for (std::int64_t t = 0; t < data.steps(); ++t)
        for (std::int64_t d = 0; d < width; ++d)
          done[static_cast<std::size_t>(t * width + d)] -=
              seen[static_cast<std::size_t>(t * dim + targets[static_cast<std::size_t>(d)])];
      centre_in_episodes(data, dim, seen);
      centre_in_episodes(data, width, done);
      result.observations = Observations::dense(Column<float>(std::move(seen)), dim);
      result.actions = Actions::continuous(Column<float>(std::move(done)), width);
      break;
    }
  }
  return result;
}

Trajectories with_noise_as_action(const Trajectories& data, const Trajectories& seen,
                                  const CommonPolicy& common, const ActionTargets& targets,
                                  const Workers& workers) {
  constexpr double kLeastSquare = 1e-4;  // of the usual: logarithms of less say nothing more
  const auto width = targets.count();
  std::vector<double> squares(static_cast<std::size_t>(data.steps() * width));
  workers.chunks(data.episodes(), 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> residual(static_cast<std::size_t>(width));
    for (auto t = data.offsets[begin]; t < data.offsets[end]; ++t) {
      const auto episode =
          std::ranges::upper_bound(data.offsets.span(), t) - data.offsets.begin() - 1;
      common.miss(seen, targets, episode, t, residual);
      for (std::size_t d = 0; d < residual.size(); ++d)
        squares[static_cast<std::size_t>(t * width) + d] = residual[d] * residual[d];
    }
  });
  std::vector<double> usual(static_cast<std::size_t>(width), kLeastNoise);
  for (std::size_t i = 0; i < squares.size(); ++i)
    usual[i % usual.size()] += squares[i] / static_cast<double>(data.steps());
  std::vector<float> actions;
  actions.reserve(squares.size());
  for (std::size_t i = 0; i < squares.size(); ++i)
    actions.push_back(
        static_cast<float>(std::log(squares[i] / usual[i % usual.size()] + kLeastSquare)));
  auto result = data;
  result.actions = Actions::continuous(Column<float>(std::move(actions)), width);
  return result;
}

}  // namespace kindred::policy_search
