// The least number of deterministic policies that can have made a dataset, or what is known of it:
// the chromatic number of its conflict graph.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/conflicts/colouring_search.h"
#include "kindred/conflicts/conflict_graph.h"

namespace kindred {

/// A connected part of the graph that has conflicts.
struct ConflictPart {
  std::int64_t trajectories = 0;
  std::int32_t behaviours = 0;
  std::int32_t at_least = 0, at_most = 0;  ///< Policies.
};

struct LeastPolicies {
  std::int32_t at_least = 0;  ///< Fewer cannot have made the data.
  std::int32_t at_most = 0;   ///< So many can.
  /// One behaviour for each policy of the lower bound, where conflicts between all of them prove
  /// it; fewer where it took an argument of another kind.
  std::vector<std::int32_t> clique;
  std::vector<std::int32_t> policy;  ///< [behaviours]: a division among `at_most` policies.
  /// [behaviours]: divided alike, within their part, by everybody who divides into `at_most`. Those
  /// of parts that need fewer, and of parts whose bound no clique proves, are not known to be.
  std::vector<bool> forced;
  std::vector<ConflictPart> parts;  ///< The largest first; without trajectories nobody touches.
  std::int64_t nodes = 0;           ///< Decisions of the search.

  bool exact() const { return at_least == at_most; }
  /// How many different divisions into `at_most` policies there are at least, as a power of ten:
  /// parts share no conflict, so that the policies of one can be those of another in any order.
  double log10_divisions() const;
};

/// The limits are for everything together.
LeastPolicies least_policies(const ConflictGraph& graph, const SearchLimits& limits = {});

/// Whether k policies can have made the data, and a division among them where they can.
SearchOutcome divide_among(const ConflictGraph& graph, std::int32_t k,
                           const SearchLimits& limits = {});

/// The policy of each trajectory; kContradicts where no deterministic one made it.
std::vector<std::int32_t> policies_of_episodes(const ConflictGraph& graph,
                                               const LeastPolicies& found);

}  // namespace kindred
