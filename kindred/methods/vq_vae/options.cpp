#include "kindred/methods/vq_vae/vq_vae.h"

namespace kindred::vq_vae {

OptionTable Options::describe() {
  return latent::joined(
      latent::Options::describe(),
      {real("commitment", commitment, 0.0, 1e9,
            "How strongly latent vectors are drawn to their code."),
       flag("refit", refit,
            "Between rounds, replace the codes by a k-means solution of the latent vectors where "
            "that is clearly better.")});
}

Options resolve(Options options, const Trajectories& data) {
  latent::resolve_shared(options, data);
  return options;
}

}  // namespace kindred::vq_vae
