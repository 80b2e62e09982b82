#include "kindred/experts/ppo/options.h"

#include <limits>

namespace kindred {

OptionTable PpoOptions::describe() {
  return {
      integer("steps", steps, 1, 1'000'000'000'000, "Environment steps to train for."),
      integer("lanes", lanes, 1, 65'536, "Episodes that run side by side."),
      integer("lane-steps", lane_steps, 1, 65'536, "Steps of each lane between two updates."),
      integer("epochs", epochs, 1, 1000, "Passes over the steps of an update."),
      integer("minibatch", minibatch, 1, 1'000'000, "Steps per gradient."),
      integer("hidden", hidden, 16, 1024, "Units in each of the two hidden layers (16, 32, …)."),
      real("discount", discount, 0.0, 1.0, "Weight of the next step's reward."),
      real("trace", trace, 0.0, 1.0, "Lambda of generalised advantage estimation."),
      real("clip", clip, 0.001, 10.0, "How far an update may move a probability, as a share."),
      real("learning-rate", learning_rate, 0.0, 1.0, "Learning rate at the start."),
      real("final-learning-rate", final_learning_rate, 0.0, 1.0, "Learning rate at the end."),
      real("entropy", entropy, 0.0, 10.0, "Weight of the entropy at the start."),
      real("final-entropy", final_entropy, 0.0, 10.0, "Weight of the entropy at the end."),
      real("max-gradient-norm", max_gradient_norm, 1e-6, 1e6, "Longer gradients are shortened."),
      real("target-kl", target_kl, 0.0, 100.0, "End an update beyond this divergence; 0: never."),
      real("deviation", deviation, 1e-3, 10.0, "Spread of continuous actions at the start."),
      flag("standardise", standardise, "Standardise inputs by running statistics."),
      real("memory", memory, 1.0, 1e9, "Updates after which the statistics of inputs fade."),
      flag("scale-rewards", scale_rewards,
           "Divide rewards by the running deviation of the discounted return."),
      integer("checkpoint", checkpoint, 1, 1'000'000,
              "Updates between checkpoints, at which all episodes start over."),
      integer("seed", seed, 0, std::numeric_limits<std::int64_t>::max(),
              "Names the random streams; the same seed gives the same policy."),
  };
}

}  // namespace kindred
