// The learners behind make_learner.
#pragma once

#include <memory>

#include "kindred/clustering/network_view.h"
#include "kindred/methods/pg_kmeans/learner.h"
#include "kindred/policies/scoring.h"

namespace kindred::pg_kmeans {

/// Action frequencies, exact; interned observations and discrete actions.
std::unique_ptr<PolicyLearner> make_tabular_learner(const Trajectories& data,
                                                    const Options& options, const RunContext& run);

/// Networks on the CPU, a policy at a time on each core.
std::unique_ptr<PolicyLearner> make_network_learner(const Trajectories& data,
                                                    const Options& options, const RunContext& run);

/// Networks through LibTorch, all of them as one stack; for GPUs, works on any device.
std::unique_ptr<PolicyLearner> make_stack_learner(const Trajectories& data, const Options& options,
                                                  const RunContext& run);

/// How the networks of a fit see the data, and what a step counts for them.
NetworkView view_of(const Trajectories& data, const Options& options);
inline Scoring scoring_of(const Options& options) {
  return {.common_share = options.common_share, .floor = options.log_prob_floor};
}

}  // namespace kindred::pg_kmeans
