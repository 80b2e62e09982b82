// Which numbers of wide observations policies may look at: screened in one pass, so that
// observations of thousands of numbers cost little more than those of a few.
#pragma once

#include <cstdint>

#include "kindred/core/workers.h"
#include "kindred/data/trajectories.h"
#include "kindred/policies/feature_map.h"

namespace kindred::policy_search {

/// More numbers per observation than these are screened.
inline constexpr std::int64_t kMostNumbersSeen = 64;

/// The numbers of the observations, standardised; of many, those that go with actions in all
/// episodes alike, or in each episode in a way of its own that lasts from one half of its steps to
/// the other. Throws Interrupted when asked to stop.
FeatureMap telling_numbers(const Trajectories& data, const ActionTargets& targets,
                           const Workers& workers);

}  // namespace kindred::policy_search
