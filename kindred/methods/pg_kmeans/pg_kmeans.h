// PG-Kmeans: alternate between cloning a policy from each cluster's trajectories and giving each
// trajectory to the policy most likely to have produced it (the paper's Algorithms 1, 3 and 4).
//
// Maximises J(W, θ) = Σ_i Σ_t log π_{label(i)}(a_it | s_it).
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/data/trajectories.h"
#include "kindred/methods/pg_kmeans/options.h"
#include "kindred/methods/sharing.h"

namespace kindred::pg_kmeans {

/// Throws InvalidArgument for options that do not fit the data, NumericError when training
/// diverges. `data` must outlive the call only.
/// Every rank of the run calls it and gets the same.
Clustering fit(const Trajectories& data, const Options& options, const RunContext& run = {});

/// A search needs the episodes it holds, rounds of cloning need all; the search on planes is not
/// shared.
Sharing sharing_of(const Options& options, const Trajectories& data, const RunContext& run);

}  // namespace kindred::pg_kmeans
