// Pairs of trajectories that no deterministic policy made both of, each with the state that proves
// it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/conflicts/conflict_graph.h"
#include "kindred/conflicts/conflict_rows.h"
#include "kindred/conflicts/least_policies.h"

namespace kindred {

/// Up to `count` pairs that conflict. All of them where there are no more; else first one for every
/// two of the clique, then pairs drawn from all, each as likely as another (of an estimated count:
/// each behaviour as likely as another), by the stream (seed, "pairs"). No pair comes twice.
std::vector<Disagreement> conflicting_pairs(const Trajectories& data, const ConflictGraph& graph,
                                            const ConflictCount& counted,
                                            const LeastPolicies& least, std::int64_t count,
                                            std::uint64_t seed);

/// What a clustering says against the conflicts: within a cluster there should be none.
struct ClusterConflicts {
  std::int32_t label = 0;
  std::int64_t trajectories = 0;
  std::int64_t contradict = 0;  ///< Of these, how many contradict themselves.
  ConflictCount count;          ///< Pairs inside the cluster that conflict.

  bool one_policy() const { return contradict == 0 && count.pairs == 0.0; }
};

/// Of each label that occurs, in order; trajectories with labels below 0 are in no cluster.
std::vector<ClusterConflicts> conflicts_inside(const ConflictGraph& graph,
                                               std::span<const std::int32_t> labels,
                                               const Workers& workers);

}  // namespace kindred
