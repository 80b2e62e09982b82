#include "kindred/methods/pg_kmeans/episode_regression.h"

#include <algorithm>

#include "kindred/clustering/network_inputs.h"
#include "kindred/nn/kmeans.h"
#include "kindred/policies/episode_statistics.h"
#include "kindred/policies/exact_policies.h"

namespace kindred::pg_kmeans {
namespace {

/// Per-step weight of the ridge: coefficients of directions an episode hardly visits stay small.
constexpr double kRidge = 0.1;

std::vector<double> regress(const StatisticsLayout& layout, std::span<const double> sums) {
  return solve_policy(layout, sums, kRidge * sums.back());  // the last is the number of steps
}

/// What is left of Σφaᵀ without the actions that `common` predicts.
void take_away(const StatisticsLayout& layout, const std::vector<double>& common,
               std::vector<double>& sums) {
  const auto at = [](std::int64_t i, std::int64_t j) {  // in the lower triangle
    return static_cast<std::size_t>(std::max(i, j) * (std::max(i, j) + 1) / 2 + std::min(i, j));
  };
  for (std::int64_t i = 0; i < layout.features; ++i)
    for (std::int64_t j = 0; j < layout.features; ++j)
      for (std::int64_t d = 0; d < layout.targets; ++d)
        sums[static_cast<std::size_t>(layout.cross() + i * layout.targets + d)] -=
            sums[at(i, j)] * common[static_cast<std::size_t>(j * layout.targets + d)];
}

/// Standardised observations and a 1, [steps, inputs + 1], and the actions beside them, summed.
std::vector<double> sums_of(const Trajectories& data, std::int64_t episode,
                            const NetworkInputs& inputs, const StatisticsLayout& layout) {
  const auto begin = data.offsets[episode], end = data.offsets[episode + 1], n = end - begin;
  std::vector<float> rows(static_cast<std::size_t>(n * inputs.obs_dim));
  data.observations.copy(begin, end, rows.data());
  std::vector<float> seen(static_cast<std::size_t>(n * inputs.count()));
  inputs.apply(rows, seen);
  std::vector<double> features;
  for (std::int64_t t = 0; t < n; ++t) {
    const auto row = seen.begin() + t * inputs.count();
    features.insert(features.end(), row, row + inputs.count());
    features.push_back(1.0);
  }
  const auto actions =
      data.actions.floats().span().subspan(static_cast<std::size_t>(begin * layout.targets),
                                           static_cast<std::size_t>(n * layout.targets));
  const std::vector<double> targets(actions.begin(), actions.end());
  std::vector<double> sums(static_cast<std::size_t>(layout.size()), 0.0);
  StepProducts(layout).add(n, features.data(), targets.data(), sums.data());
  return sums;
}

}  // namespace

Matrix episode_regressions(const Trajectories& data, const Workers& workers) {
  const auto inputs = NetworkInputs::from(data.observations, true);
  const StatisticsLayout layout{inputs.count() + 1, data.actions.dim()};
  std::vector<std::vector<double>> episodes;
  std::vector<double> all(static_cast<std::size_t>(layout.size()), 0.0);
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    workers.throw_if_stopped();
    const auto& own = episodes.emplace_back(sums_of(data, i, inputs, layout));
    std::ranges::transform(all, own, all.begin(), std::plus());
  }
  const auto common = regress(layout, all);  // [inputs + 1, act_dim]
  Matrix result(data.episodes(), std::ssize(common));
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    workers.throw_if_stopped();
    auto& own = episodes[static_cast<std::size_t>(i)];
    take_away(layout, common, own);
    std::ranges::copy(regress(layout, own), &result(i, 0));
  }
  return result;
}

std::vector<std::int32_t> episode_regression_labels(const Trajectories& data, std::int64_t k,
                                                    Random& random, const Workers& workers) {
  const Matrix coefficients = episode_regressions(data, workers);
  return kmeans(coefficients.values, coefficients.columns, k, 10, random, workers).labels;
}

}  // namespace kindred::pg_kmeans
