// Deep Embedded Clustering: an autoencoder, k-means on its latent vectors, then self-training, in
// which soft assignments are drawn towards a sharpened version of themselves.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/late_part.h"
#include "kindred/latent/options.h"
#include "kindred/methods/sharing.h"

namespace kindred::dec {

/// DEC as published, or the paper's variant: the divergence is added to the reconstruction from the
/// first step on.
enum class Variant { kPretrained, kJoint };

struct Options : latent::Options {
  Variant variant = Variant::kPretrained;
  double pretrain = 0.6;
  double kl_weight = 0.5;
  std::int64_t kmeans_starts = 20;
  std::int64_t refresh_steps = 0;
  double change_tolerance = 0.001;

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

}  // namespace kindred::dec
