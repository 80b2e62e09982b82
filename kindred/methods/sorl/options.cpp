#include "kindred/methods/sorl/options.h"

#include <limits>

#include "kindred/data/draw_order.h"

namespace kindred::sorl {

OptionTable Options::describe() {
  constexpr auto kMany = std::numeric_limits<std::int64_t>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {
      integer("k", k, 1, 10000, "How many policies to fit."),
      integer("merge-to", merge_to, 0, 10000,
              "Merge the k clusters down to this many at the end; 0 keeps all of them."),
      integer("restarts", restarts, 1, 1000,
              "Independent random starts, trained together; the highest objective wins."),
      integer("seed", seed, 0, kMany, "Every random number follows from this seed."),
      choice("posterior", posterior, {"sum", "product"},
             "A policy's share in a trajectory: proportional to the sum of its steps' "
             "probabilities, as in SORL's own code, or to their product."),
      integer("max-rounds", max_rounds, 1, 100000, "Stop after this many passes over the data."),
      real("change-tolerance", change_tolerance, 0.0, 1.0,
           "Converged when at most this share of labels changes in the last round, on a plateau."),
      integer("plateau-rounds", plateau_rounds, 1, kMany,
              "Rounds without progress that make a plateau, where training ends."),
      real("plateau-tolerance", plateau_tolerance, 0.0, kInfinity,
           "Progress is a gain of the objective of at least this per step."),
      choice("merge-rule", merge_rule, {"least-loss", "printed"},
             "Which pair to merge: the one that lowers the likelihood least, or the paper's "
             "printed rule."),
      choice("standardize", standardize, {"auto", "on", "off"},
             "Scale observations by the dataset's mean and deviation; auto leaves "
             "observations of zeros and ones (gridworlds) as they are."),
      integer("hidden", hidden, 1, 65536, "Width of the policy's hidden layers."),
      integer("hidden-layers", hidden_layers, 1, 16, "Number of the policy's hidden layers."),
      real("learning-rate", learning_rate, 1e-9, 1.0, "Adam's learning rate."),
      real("max-gradient-norm", max_gradient_norm, 1e-9, kInfinity,
           "Gradient norm of one policy is clipped to this."),
      integer("batch-trajectories", batch_trajectories, 1, kMany,
              "Trajectories whose shares are computed again with the policies as they are, then "
              "trained on."),
      integer("batch-steps", batch_steps, 0, kMany,
              "Most steps of these trajectories in one gradient step; 0: all of them."),
      buffer_option(buffer_steps),
  };
}

Options resolve(Options options, const Trajectories& data) {
  options.merge_to = resolve_merge_to(options.k, options.merge_to, data);
  options.standardize = resolve_standardize(options.standardize, data.observations);
  options.buffer_steps = resolve_buffer(options.buffer_steps, data);
  return options;
}

std::vector<UnusedOptions> unused_options(const Options& options, const Trajectories& /*data*/,
                                          const RunContext& /*run*/) {
  if (options.merge_to > 0 && options.merge_to < options.k) return {};
  return {{{"merge-rule"}, "merging; add a '--merge-to' below '-k'"}};
}

}  // namespace kindred::sorl
