#include "kindred/methods/caae/caae.h"

namespace kindred::caae {

OptionTable Options::describe() {
  return latent::joined(
      latent::Options::describe(),
      {real("alpha", alpha, 0.0, 1e9, "How strongly latent vectors are drawn to their centroid."),
       real("warmup", warmup, 0.0, 1.0,
            "Share of the training steps over which alpha rises from 0 to its value."),
       real("regulariser", regulariser, 0.0, 1e9,
            "Weight of the term that keeps centroids apart; 0 leaves it out."),
       flag("refit", refit,
            "Between rounds, replace the centroids by a k-means solution of the latent vectors "
            "where that is clearly better.")});
}

Options resolve(Options options, const Trajectories& data) {
  latent::resolve_shared(options, data);
  return options;
}

std::vector<UnusedOptions> unused_options(const Options& options, const Trajectories& /*data*/,
                                          const RunContext& /*run*/) {
  if (options.alpha > 0.0) return {};
  return {{{"warmup"}, "an '--alpha' above 0; leave it out"}};
}

}  // namespace kindred::caae
