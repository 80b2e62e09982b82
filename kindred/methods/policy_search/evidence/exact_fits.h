// The partitions that policies in closed form lead to: rounds of fitting every cluster's policy and
// giving every episode to the policy that fits it best.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/methods/policy_search/evidence/evidence.h"
#include "kindred/policies/exact_policies.h"

namespace kindred::policy_search {

/// The policies and the noise that maximise J for given labels.
ExactPolicies solve_policies(const EpisodeStatistics& statistics,
                             std::span<const std::int32_t> labels, std::int64_t k, double ridge);

/// Rounds from given labels, which keep the links, until none changes; clusters that lose their
/// last episode go.
ExactFit fit_exact(const EpisodeStatistics& statistics, std::vector<std::int32_t> labels,
                   double ridge, const Links& links = {}, std::int64_t most_rounds = 100);

/// The same, with the closest two clusters joined and rounds again until at most k are left.
ExactFit fit_down_to(std::int64_t k, const EpisodeStatistics& statistics,
                     std::vector<std::int32_t> labels, double ridge, const Links& links,
                     std::int64_t most_rounds = 100);

/// Which pairs are looked at: all, or the 2k whose episodes lose least under the other's policy as
/// it stands. What joining two really costs takes solving another policy.
enum class Joins { kAll, kLikely };

/// The pairs (a < b) whose joining lowers J least, that of the least first; at most `most`.
std::vector<ClusterPair> closest_pairs(const EpisodeStatistics& statistics,
                                       std::span<const std::int32_t> labels, std::int64_t k,
                                       double ridge, std::size_t most, Joins joins = Joins::kAll);

}  // namespace kindred::policy_search
