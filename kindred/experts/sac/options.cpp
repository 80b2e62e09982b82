#include "kindred/experts/sac/options.h"

#include <limits>

namespace kindred {

OptionTable SacOptions::describe() {
  return {
      integer("steps", steps, 1, 1'000'000'000'000, "Environment steps to train for."),
      integer("lanes", lanes, 1, 65'536, "Episodes that run side by side."),
      integer("lane-steps", lane_steps, 1, 65'536, "Steps of each lane between two updates."),
      integer("gradients", gradients, 1, 1'000'000, "Gradient steps of an update."),
      integer("minibatch", minibatch, 1, 1'000'000, "Steps per gradient."),
      integer("hidden", hidden, 16, 1024, "Units in each of the two hidden layers (16, 32, …)."),
      integer("start", start, 1, 1'000'000'000,
              "Steps with random actions before anything is learned."),
      integer("replay", replay, 1, 1'000'000'000, "The last steps so many are learned from."),
      integer("actor-every", actor_every, 1, 1000,
              "Gradient steps of the critics to one of the actor."),
      real("discount", discount, 0.0, 1.0, "Weight of the next step's reward."),
      real("follow", follow, 1e-6, 1.0,
           "How far the target critics move towards the critics in a gradient step."),
      real("learning-rate", learning_rate, 0.0, 1.0, "Learning rate at the start."),
      real("final-learning-rate", final_learning_rate, 0.0, 1.0, "Learning rate at the end."),
      real("target-entropy", target_entropy, -100.0, 100.0,
           "Entropy to aim at, in nats per number of an action."),
      real("temperature", temperature, 1e-6, 1e6, "Worth of a nat of entropy at the start."),
      integer("checkpoint", checkpoint, 1, 1'000'000,
              "Updates between checkpoints, at which all episodes start over."),
      integer("seed", seed, 0, std::numeric_limits<std::int64_t>::max(),
              "Names the random streams; the same seed gives the same policy."),
  };
}

}  // namespace kindred
