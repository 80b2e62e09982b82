// Which clusters of stretches are one policy in different states: upright and fallen, near and far.
//
// Two clusters are one policy unless knowing which of the two acts tells more about the actions
// than the state does. After a switch the new policy acts where the old one was, so two policies
// show.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/segments/step_evidence.h"

namespace kindred {

struct JoinedPolicies {
  std::int64_t count = 0;
  std::vector<std::int32_t> policy_of;  ///< [k]: the policy each cluster is part of.
  Matrix nats;                          ///< [steps, count]
};

struct JoinRule {
  std::int64_t fewest = 1;  ///< Policies to keep; joining does not go below.
  std::int64_t most = 0;    ///< Policies to end with at most, alike or not; 0: any number.
};

/// Joins clusters of steps, the most alike first, until every two left differ. `rate` is that of
/// switches, which cost what naming them takes.
JoinedPolicies join_alike(const StepEvidence& evidence, const Matrix& nats,
                          std::span<const std::int32_t> labels,
                          std::span<const std::int64_t> offsets, double rate, const JoinRule& rule);

/// Joins clusters into policies that are known.
JoinedPolicies join_known(const StepEvidence& evidence, const Matrix& nats,
                          std::span<const std::int32_t> labels,
                          std::span<const std::int32_t> policy_of);

}  // namespace kindred
