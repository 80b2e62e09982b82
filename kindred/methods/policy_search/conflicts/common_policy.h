// One policy for everything, and how well it predicts episodes it has not seen.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/policies/episode_statistics.h"
#include "kindred/policies/feature_map.h"

namespace kindred::policy_search {

inline constexpr std::int64_t kCommonFolds = 5;

/// Policies of all episodes, one without each fold.
class CommonPolicy {
 public:
  /// Of the `ridges` the one that predicts best. `sums` are those of each fold, [folds, size].
  CommonPolicy(FeatureMap map, std::int64_t targets, std::vector<std::int32_t> folds,
               std::vector<double> sums, std::span<const double> ridges);

  const FeatureMap& map() const { return map_; }
  /// Fitted to all folds: [features, targets].
  const std::vector<double>& weights() const { return weights_; }
  /// Variance of what is missed, held out: [targets].
  const std::vector<double>& noise() const { return noise_; }
  /// In nats per step, in the units of targets.
  double score() const;

  /// What the policy without its episode's fold misses of a step's action.
  void miss(const Trajectories& data, const ActionTargets& targets, std::int64_t episode,
            std::int64_t step, std::span<double> residual) const;

 private:
  FeatureMap map_;
  std::vector<std::int32_t> folds_;           // [episodes]
  std::vector<std::vector<double>> without_;  // [folds][features, targets]
  std::vector<double> weights_, noise_;
};

}  // namespace kindred::policy_search
