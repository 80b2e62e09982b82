// Optimal k-means in one dimension, by dynamic programming over the sorted values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred::return_kmeans {

struct KMeans1d {
  std::vector<std::int32_t> labels;  ///< [values]: 0 for the lowest cluster.
  std::vector<double> centres;       ///< [k], ascending.
  double cost = 0.0;                 ///< Sum of squared distances to its centre.
};

/// The exact optimum in O(k n log n). With fewer than k distinct values some clusters do not exist
/// and `centres` is shorter. Throws InvalidArgument when values is empty or k < 1.
KMeans1d kmeans_1d(std::span<const double> values, std::int64_t k);

}  // namespace kindred::return_kmeans
