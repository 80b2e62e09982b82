// The vector-quantised autoencoder: the decoder sees only the nearest code, gradients pass straight
// through to the encoder. A trajectory's cluster is its code.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/late_part.h"
#include "kindred/latent/options.h"
#include "kindred/methods/sharing.h"

namespace kindred::vq_vae {

struct Options : latent::Options {
  double commitment = 1.0;
  bool refit = true;

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

}  // namespace kindred::vq_vae
