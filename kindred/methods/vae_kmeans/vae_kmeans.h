// A variational autoencoder, then k-means on the means of its latent distributions.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/late_part.h"
#include "kindred/latent/options.h"
#include "kindred/methods/sharing.h"

namespace kindred::vae_kmeans {

struct Options : latent::Options {
  double kl_weight = 0.5;
  std::int64_t kmeans_starts = 10;

  OptionTable describe();
};

/// The options as they will be used on `data`. Throws InvalidArgument when they cannot be.
Options resolve(Options options, const Trajectories& data);

extern TorchFunction<Clustering(const Trajectories& data, const Options& options,
                                const RunContext& run)>
    fit;

/// Every process has all episodes, and trains some of the restarts.
inline Sharing sharing_of(const Options& options, const Trajectories& data, const RunContext& run) {
  return sharing_of_autoencoders(resolve(options, data), data, run);
}

}  // namespace kindred::vae_kmeans
