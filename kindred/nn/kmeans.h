// Lloyd's k-means with k-means++ starts, on rows of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"

namespace kindred {

struct KMeansResult {
  std::vector<std::int32_t> labels;  ///< [rows]
  std::vector<double> centres;       ///< [k, dim]
  double cost = 0.0;                 ///< Sum of squared distances to the nearest centre.
};

/// Clusters `points` ([rows, dim]) into k ≤ rows groups; the cheapest of `starts` runs. A run ends
/// when no label changes, or after `max_iterations`. Throws InvalidArgument when k > rows.
KMeansResult kmeans(std::span<const double> points, std::int64_t dim, std::int64_t k,
                    std::int64_t starts, Random& random, std::int64_t max_iterations = 300);

}  // namespace kindred
