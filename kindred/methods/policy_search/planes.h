// Policy search on planes of zeros and ones: networks that start from policies in closed form, and
// are judged by episodes they have not seen.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/methods/policy_search/options.h"

namespace kindred::policy_search {

/// `restarts` of the options is not read.
Clustering fit_on_planes(const Trajectories& data, const Options& options, const RunContext& run);

}  // namespace kindred::policy_search
