// PG-Kmeans with exact policies: no gradient steps, and the number of policies found unaided.
#pragma once

#include <functional>

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/methods/pg_kmeans/options.h"
#include "kindred/policies/partition_search.h"

namespace kindred::pg_kmeans {

/// How the partition is looked for among some of the episodes.
using PartitionSearch =
    std::function<SearchResult(const Trajectories&, const SearchOptions&, const RunContext&)>;

/// `options` are resolved and let the held-out score choose.
Clustering fit_exact_policies(const Trajectories& data, const Options& options,
                              const RunContext& run,
                              const PartitionSearch& search = search_partitions);

}  // namespace kindred::pg_kmeans
