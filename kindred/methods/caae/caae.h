// The Centroid-Attracted Autoencoder: reconstruct actions from a latent vector per trajectory that
// is drawn to the nearest of m learned centroids. A trajectory's cluster is its nearest centroid.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/late_part.h"
#include "kindred/latent/options.h"
#include "kindred/methods/sharing.h"

namespace kindred::caae {

struct Options : latent::Options {
  double alpha = 1.0;
  double warmup = 0.25;
  double regulariser = 1.0;
  bool refit = true;

  OptionTable describe();
};

/// The options as they will be used on `data`. Throws InvalidArgument when they cannot be.
Options resolve(Options options, const Trajectories& data);
std::vector<UnusedOptions> unused_options(const Options& options, const Trajectories& data,
                                          const RunContext& run);

extern TorchFunction<Clustering(const Trajectories& data, const Options& options,
                                const RunContext& run)>
    fit;

/// Every process has all episodes, and trains some of the restarts.
inline Sharing sharing_of(const Options& options, const Trajectories& data, const RunContext& run) {
  return sharing_of_autoencoders(resolve(options, data), data, run);
}

}  // namespace kindred::caae
