// What the episodes of two clusters cost as those of two policies and of one, predicted by policies
// that have not seen them: V's question, asked of so many features that sums of every piece would
// not fit. Only episodes that are held out together share sums; errors come from a second look at
// the steps, which lose nothing to sums made of floats.
#pragma once

#include <cstdint>
#include <span>

#include "kindred/core/workers.h"
#include "kindred/policies/feature_map.h"

namespace kindred {

/// Nats per step, labels included.
struct PairCosts {
  double as_two = 0.0, as_one = 0.0;
};

/// `sides` says which of the two each episode belongs to, 0 or 1; `noise` is what errors usually
/// are, [targets]. Two policies and one are each taken with the number of `cosines` that suits them
/// better: many features need many steps, of which one policy has more.
PairCosts pair_costs(const Trajectories& data, std::span<const std::int32_t> sides,
                     const FeatureMap& map, std::span<const std::int64_t> cosines,
                     const ActionTargets& targets, double ridge, std::span<const double> noise,
                     const Workers& workers);

}  // namespace kindred
