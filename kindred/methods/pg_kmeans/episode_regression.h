// The start `--init fingerprint`: one ridge regression per episode, of its actions (less one common
// to all episodes) on its standardised observations. The coefficients are a linear picture of the
// policy behind the episode, so plain k-means on them is a well-informed start.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/random.h"
#include "kindred/data/trajectories.h"

namespace kindred::pg_kmeans {

/// [episodes, (inputs + 1) × act_dim]; continuous actions only.
Matrix episode_regressions(const Trajectories& data, const Workers& workers = {});

/// Labels 0..k-1 from k-means (k-means++ starts) on the coefficients.
std::vector<std::int32_t> episode_regression_labels(const Trajectories& data, std::int64_t k,
                                                    Random& random, const Workers& workers = {});

}  // namespace kindred::pg_kmeans
