// Along which directions of the observation policies change: distances by it tell states in which a
// policy may act otherwise, and random Fourier features by it approximate policies with far fewer.
//
// The metric is the average outer product of the gradients of two sorts of policies: one for all
// episodes on random features, and a linear one for each episode. Features by a metric give a
// better policy, whose gradients give a better metric, so it is found in a few rounds; the one
// with the least held-out error is kept (Radhakrishnan et al. 2024 call this feature learning).
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/core/workers.h"
#include "kindred/policies/feature_map.h"

namespace kindred::policy_search {

struct LearnedMetric {
  /// A lower triangular matrix L, [inputs, inputs], row by row: the metric is LLᵀ.
  std::vector<double> factor;
  /// Variance of what one policy by this metric misses, held out: [targets].
  std::vector<double> noise;
};

/// `numbers` is a map without cosines. Looks at a sample of the steps. Throws Interrupted when
/// asked to stop.
LearnedMetric learn_metric(const Trajectories& data, const FeatureMap& numbers,
                           const ActionTargets& targets, const Workers& workers);

/// The lower triangular L, [n, n], with LLᵀ the matrix whose lower triangle is that of `matrix`.
std::vector<double> lower_factor(std::int64_t n, std::vector<double> matrix);

}  // namespace kindred::policy_search
