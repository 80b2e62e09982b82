// PG-Kmeans with exact policies: no gradient steps, and the number of policies found unaided.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/methods/pg_kmeans/options.h"

namespace kindred::pg_kmeans {

/// `options` are resolved and let the held-out score choose.
Clustering fit_exact_policies(const Trajectories& data, const Options& options,
                              const RunContext& run);

}  // namespace kindred::pg_kmeans
