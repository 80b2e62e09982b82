// Return+KMeans: exact one-dimensional k-means on episode returns. The smallest method, and the
// only one that looks at rewards.
#pragma once

#include <cstdint>
#include <memory>

#include "kindred/clustering/clustering.h"
#include "kindred/core/options.h"
#include "kindred/core/progress.h"
#include "kindred/methods/sharing.h"

namespace kindred::return_kmeans {

struct Options {
  std::int64_t k = 2;
  std::int64_t merge_to = 0;

  OptionTable describe();
  /// Nothing to set: the paper's k-means has no choices that the exact one leaves open.
  void use_paper_setting() {}
};

/// The options as they will be used on `data`. Throws InvalidArgument when the data has no rewards
/// or fewer than k episodes.
Options resolve(Options options, const Trajectories& data);

/// Throws as resolve does.
Clustering fit(const Trajectories& data, const Options& options, const RunContext& run = {});

std::shared_ptr<const Centres> load_centres(const ArrayFileReader& file);

/// Every process has all episodes; there is nothing to share but reading them.
inline Sharing sharing_of(const Options&, const Trajectories&, const RunContext&) {
  return Sharing::kPolicies;
}

}  // namespace kindred::return_kmeans
