#include "kindred/methods/vae_kmeans/vae_kmeans.h"

namespace kindred::vae_kmeans {

OptionTable Options::describe() {
  return latent::joined(
      latent::Options::describe(),
      {real("kl-weight", kl_weight, 0.0, 1e9,
            "Weight of the divergence of a latent distribution from the standard normal."),
       integer("kmeans-starts", kmeans_starts, 1, 100000,
               "Starts of k-means (k-means++); the cheapest wins.")});
}

Options resolve(Options options, const Trajectories& data) {
  latent::resolve_shared(options, data);
  return options;
}

}  // namespace kindred::vae_kmeans
