// The oracle: somebody who knows the true policies and assigns each trajectory to its most likely
// one. Its agreement with the true labels is what a clustering of the dataset is measured by; it is
// not a bound, as ties can be broken better.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/core/workers.h"
#include "kindred/data/trajectories.h"
#include "kindred/envs/environment.h"
#include "kindred/experts/policy.h"

namespace kindred {

/// log P(actions | observations) of each trajectory under each policy, [episodes, policies];
/// minus infinity where a policy would never act so. Throws InvalidArgument when the dataset's
/// observations or actions are not those of the environment, as when it was made with other
/// options: make_environment(provenance["environment"], provenance["options"]) is the right one.
std::vector<double> log_likelihoods(const Trajectories& data, const Environment& environment,
                                    const Policies& policies, const Workers& workers = {});

/// The same of each step: [steps, policies].
std::vector<double> step_log_likelihoods(const Trajectories& data, const Environment& environment,
                                         const Policies& policies, const Workers& workers = {});

/// The most likely policy of each trajectory; the first of those that tie, also when every policy
/// is impossible.
std::vector<std::int32_t> oracle_labels(const Trajectories& data, const Environment& environment,
                                        const Policies& policies, const Workers& workers = {});

}  // namespace kindred
