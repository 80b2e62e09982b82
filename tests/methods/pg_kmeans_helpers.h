#pragma once

#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/metrics/clustering_scores.h"
#include "tests/clustering/synthetic.h"

namespace kindred::pg_kmeans {

using kindred::testing::gridworld;
using kindred::testing::linear_control;
using kindred::testing::without_interning;

inline double nmi(const Clustering& clustering, const Trajectories& data) {
  return normalized_mutual_information(clustering.labels, data.labels.span());
}

/// The paper's: rounds of policies, of which the best by J is taken.
inline Options by_objective() {
  Options options;
  options.choose = Choose::kObjective;
  return options;
}

inline double ceiling(const Trajectories& data) {
  return normalized_mutual_information(data.oracle.span(), data.labels.span());
}

}  // namespace kindred::pg_kmeans
