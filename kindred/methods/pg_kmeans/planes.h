// PG-Kmeans on planes of zeros and ones: networks that start from policies in closed form, and are
// judged by episodes they have not seen.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/methods/pg_kmeans/options.h"

namespace kindred::pg_kmeans {

/// `options` are resolved and let the held-out score choose among networks.
Clustering fit_on_planes(const Trajectories& data, const Options& options, const RunContext& run);

}  // namespace kindred::pg_kmeans
