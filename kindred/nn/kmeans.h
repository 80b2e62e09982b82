// Lloyd's k-means with k-means++ starts, on rows of numbers and on several threads. The result does
// not depend on how many there are: every start has a random stream of its own, and sums are made
// per chunk of rows and added in the order of the chunks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/core/workers.h"

namespace kindred {

struct KMeansResult {
  std::vector<std::int32_t> labels;  ///< [rows]: the nearest centre, the lowest on ties.
  std::vector<double> centres;       ///< [k, dim]
  double cost = 0.0;                 ///< Sum of squared distances to the nearest centre.
};

/// Clusters `points` ([rows, dim]) into k ≤ rows groups; the cheapest of `starts` runs, so more
/// starts are never worse. A run ends when no label changes, or after `max_iterations`. A group
/// that loses all its points takes the one farthest from its centre. `random` gives one number.
/// Throws InvalidArgument when k > rows, Interrupted when asked to stop.
KMeansResult kmeans(std::span<const double> points, std::int64_t dim, std::int64_t k,
                    std::int64_t starts, Random& random, const Workers& workers = {},
                    std::int64_t max_iterations = 300);

}  // namespace kindred
