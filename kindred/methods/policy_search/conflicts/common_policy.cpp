#include "kindred/methods/policy_search/conflicts/common_policy.h"

#include <algorithm>
#include <cmath>

#include "kindred/policies/error_forms.h"
#include "kindred/policies/exact_policies.h"

namespace kindred::policy_search {

CommonPolicy::CommonPolicy(FeatureMap map, std::int64_t targets, std::vector<std::int32_t> folds,
                           std::vector<double> sums, std::span<const double> ridges)
    : map_(std::move(map)), folds_(std::move(folds)) {
  const StatisticsLayout layout{map_.count(), targets};
  const auto size = static_cast<std::size_t>(layout.size());
  std::vector<double> whole(size, 0.0);
  for (std::size_t i = 0; i < sums.size(); ++i) whole[i % size] += sums[i];
  auto others = sums;  // of each fold
  for (std::size_t i = 0; i < sums.size(); ++i) others[i] = whole[i % size] - sums[i];
  for (const double ridge : ridges) {
    std::vector<double> noise(static_cast<std::size_t>(targets), 0.0);
    std::vector<std::vector<double>> without;
    for (std::size_t fold = 0; fold * size < sums.size(); ++fold) {
      without.push_back(solve_policy(layout, std::span(others).subspan(fold * size, size), ridge));
      const auto missed = ErrorForms::of_targets(layout, without.back())
                              .errors(std::vector{&std::as_const(sums)[fold * size]});
      for (std::size_t d = 0; d < noise.size(); ++d) noise[d] += missed.values[d] / whole.back();
    }
    for (auto& variance : noise) variance = std::max(kLeastNoise, variance);
    const auto log_noise = [](const std::vector<double>& of) {
      double sum = 0.0;
      for (const double variance : of) sum += std::log(variance);
      return sum;
    };
    if (!noise_.empty() && log_noise(noise) >= log_noise(noise_)) continue;
    noise_ = std::move(noise);
    without_ = std::move(without);
    weights_ = solve_policy(layout, whole, ridge);
  }
}

double CommonPolicy::score() const {
  double score = 0.0;
  for (const double variance : noise_) score -= 0.5 * std::log(variance);
  return score;
}

void CommonPolicy::miss(const Trajectories& data, const ActionTargets& targets,
                        std::int64_t episode, std::int64_t step, std::span<double> residual) const {
  std::vector<float> row(static_cast<std::size_t>(map_.obs_dim()));
  std::vector<double> features(static_cast<std::size_t>(map_.count()));
  data.observations.copy(step, step + 1, row.data());
  map_.apply(row, features);
  targets.copy(data.actions, step, step + 1, residual);
  const auto& policy =
      without_[static_cast<std::size_t>(folds_[static_cast<std::size_t>(episode)])];
  for (std::size_t m = 0; m < features.size(); ++m)
    for (std::size_t d = 0; d < residual.size(); ++d)
      residual[d] -= features[m] * policy[m * residual.size() + d];
}

}  // namespace kindred::policy_search
