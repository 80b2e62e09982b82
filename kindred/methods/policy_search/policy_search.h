// Policy search: which episodes were produced by the same policy, and how many policies there are.
// The algorithm is described in docs/policy-search.md.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/methods/policy_search/options.h"
#include "kindred/methods/sharing.h"

namespace kindred::policy_search {

/// Throws InvalidArgument for options that do not fit the data. Every rank of the run calls it and
/// gets the same.
Clustering fit(const Trajectories& data, const Options& options, const RunContext& run = {});

/// The same with policies of a given class, which the data must allow.
Clustering fit_with(PolicyClass policies, const Trajectories& data, const Options& options,
                    const RunContext& run);

/// Each rank looks at the episodes it holds; a search on planes is not shared.
Sharing sharing_of(const Options& options, const Trajectories& data, const RunContext& run);

}  // namespace kindred::policy_search
