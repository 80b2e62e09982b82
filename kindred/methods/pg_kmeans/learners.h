// The learners behind make_learner.
#pragma once

#include <memory>

#include "kindred/core/late_part.h"
#include "kindred/methods/pg_kmeans/learner.h"

namespace kindred::pg_kmeans {

/// Action frequencies, exact; interned observations and discrete actions.
std::unique_ptr<PolicyLearner> make_tabular_learner(const Trajectories& data,
                                                    const Options& options, const RunContext& run);

/// Networks on the CPU, a policy at a time on each core.
std::unique_ptr<PolicyLearner> make_network_learner(const Trajectories& data,
                                                    const Options& options, const RunContext& run);

/// Networks through LibTorch, all of them as one stack; for GPUs, works on any device.
extern TorchFunction<std::unique_ptr<PolicyLearner>(const Trajectories& data,
                                                    const Options& options, const RunContext& run)>
    make_stack_learner;

}  // namespace kindred::pg_kmeans
