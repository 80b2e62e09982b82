// The E-step of network policies on the CPU: log-likelihoods, streamed over blocks.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/clustering/network_view.h"
#include "kindred/core/workers.h"
#include "kindred/nn/policy_stack.h"
#include "kindred/policies/over_steps.h"

namespace kindred {

/// How the log-probabilities of steps under a policy make the score of a trajectory. A step counts
/// log((1 - common_share) π + common_share π_all), where π_all is cloned from all trajectories:
/// what it can say against a policy is bounded in the same way whatever the actions' number and
/// units.
struct Scoring {
  double common_share = 0.0;                                ///< 0: there is no common policy.
  double floor = -std::numeric_limits<double>::infinity();  ///< The least a step can count.
  OverSteps over = OverSteps::kSumOfLogs;
};

/// Log-probability of every step under the first policy of a stack: [steps].
std::vector<float> step_log_probs(const Trajectories& data, const NetworkView& view,
                                  const PolicyStack& stack, const Workers& workers);

/// Score of every trajectory under each policy: [episodes, stack.size()]. `common`: the common
/// policy's log-probabilities, [steps], or empty where it has no share. Memory is bounded by a
/// block of steps per thread.
Matrix score_trajectories(const Trajectories& data, const NetworkView& view,
                          const PolicyStack& stack, const Scoring& scoring,
                          std::span<const float> common, const Workers& workers);

/// What each action in each row of the observation table would count: [distinct × actions,
/// stack.size()]. `common` as above, [distinct × actions]. Interned observations and discrete
/// actions only.
std::vector<double> table_scores(const Observations& observations, const NetworkInputs& inputs,
                                 const PolicyStack& stack, const Scoring& scoring,
                                 std::span<const double> common, const Workers& workers);

}  // namespace kindred
