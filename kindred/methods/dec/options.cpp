#include <algorithm>
#include <limits>

#include "kindred/methods/dec/dec.h"

namespace kindred::dec {

OptionTable Options::describe() {
  constexpr auto kMany = std::numeric_limits<std::int64_t>::max();
  return latent::joined(
      latent::Options::describe(),
      {choice("variant", variant, {"pretrained", "joint"},
              "As published (pretrain, k-means, self-train the encoder), or the divergence added "
              "to the reconstruction from the start."),
       real("pretrain", pretrain, 0.0, 1.0,
            "Share of the training steps spent on reconstruction alone; variant pretrained."),
       real("kl-weight", kl_weight, 0.0, 1e9,
            "Weight of the divergence beside the reconstruction; variant joint."),
       integer("kmeans-starts", kmeans_starts, 1, 100000,
               "Starts of k-means (k-means++); the cheapest wins."),
       integer("refresh-steps", refresh_steps, 0, kMany,
               "Training steps between two updates of the target; 0: one pass over the data."),
       real("change-tolerance", change_tolerance, 0.0, 1.0,
            "Converged when less than this share of labels changes between two updates.")});
}

Options resolve(Options options, const Trajectories& data) {
  latent::resolve_shared(options, data);
  if (options.refresh_steps == 0)
    options.refresh_steps =
        std::max<std::int64_t>(50, data.episodes() / options.batch_trajectories);
  return options;
}

std::vector<UnusedOptions> unused_options(const Options& options, const Trajectories& /*data*/,
                                          const RunContext& /*run*/) {
  if (options.variant == Variant::kJoint)
    return {{{"pretrain"}, "'--variant pretrained'; leave it out"}};
  return {{{"kl-weight"}, "'--variant joint'; add it"}};
}

}  // namespace kindred::dec
