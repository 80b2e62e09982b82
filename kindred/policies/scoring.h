// The E-step of network policies on the CPU: log-likelihoods, streamed over blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/clustering/network_inputs.h"
#include "kindred/core/workers.h"
#include "kindred/nn/policy_stack.h"
#include "kindred/policies/over_steps.h"

namespace kindred {

/// Log-likelihood (or what `over` makes of the steps) of every trajectory under each policy, each
/// step's at least `floor`: [episodes, stack.size()]. Memory is bounded by a block of steps per
/// thread.
Matrix score_trajectories(const Trajectories& data, const NetworkInputs& inputs,
                          const PolicyStack& stack, double floor, const Workers& workers,
                          OverSteps over = OverSteps::kSumOfLogs);

/// Log-probabilities of all actions in each row of the observation table, at least `floor`:
/// [distinct × actions, stack.size()]. Interned observations and discrete actions only.
std::vector<double> table_log_probs(const Observations& observations, const NetworkInputs& inputs,
                                    const PolicyStack& stack, double floor, const Workers& workers);

}  // namespace kindred
