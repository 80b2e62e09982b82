// Policy search with policies in closed form: what was found among some of the episodes becomes an
// answer about all.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/methods/policy_search/options.h"

namespace kindred::policy_search {

/// With policies on features, or as tables.
Clustering fit_in_closed_form(const Trajectories& data, const Options& options, bool tables,
                              const RunContext& run);

}  // namespace kindred::policy_search
