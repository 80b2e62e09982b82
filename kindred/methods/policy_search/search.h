// Searches for the partition into policies and for their number.
//
// V and pooling propose: for every number of clusters, the partition whose policies best predict
// episodes they have not seen, in the view of the data in which they predict best. Persistence and
// conflicts dispose: the answer has as many policies as there are clusters of which no two act
// alike in like states.
#pragma once

#include "kindred/methods/policy_search/partitions/partition_search.h"
#include "kindred/methods/policy_search/rules.h"

namespace kindred::policy_search {

/// Policies are in closed form, on features or as tables. Every rank of the run has all of
/// `data`. Throws Interrupted when asked to stop.
SearchResult search_by_conflicts(const Trajectories& data, const SearchOptions& options,
                                 const RunContext& run);

}  // namespace kindred::policy_search
