#include "kindred/latent/options.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kindred/clustering/clustering.h"
#include "kindred/core/error.h"
#include "kindred/data/draw_order.h"

namespace kindred::latent {

OptionTable Options::describe() {
  constexpr auto kMany = std::numeric_limits<std::int64_t>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {
      integer("k", k, 1, 10000, "How many clusters to fit."),
      integer("merge-to", merge_to, 0, 10000,
              "Merge the k clusters down to this many at the end; 0 keeps all of them."),
      integer("restarts", restarts, 1, 1000, "Independent starts; the highest objective wins."),
      integer("seed", seed, 0, kMany, "Every random number follows from this seed."),
      choice("reconstruction", reconstruction, {"sum", "mean"},
             "A trajectory's reconstruction error: the sum over its steps, or their mean."),
      choice("standardize", standardize, {"auto", "on", "off"},
             "Scale observations by the dataset's mean and deviation; auto leaves "
             "observations of zeros and ones (gridworlds) as they are."),
      integer("max-steps", max_steps, 0, kMany,
              "Training steps; 0: enough to see 12.5 million steps of trajectories, but at most 24 "
              "passes over the data, and at least 300."),
      integer("batch-trajectories", batch_trajectories, 0, kMany,
              "Trajectories in one training step; 0: 64, or an eighth of fewer than 512."),
      buffer_option(buffer_steps),
      real("learning-rate", learning_rate, 1e-9, 1.0, "Adam's learning rate."),
      flag("decay", decay, "Let the learning rate fall to zero over the second half of training."),
      real_or_off("max-gradient-norm", max_gradient_norm, 1e-9, kInfinity, kInfinity,
                  "The gradient's norm is clipped to this."),
      integer("hidden", hidden, 16, 65536,
              "Width of the encoder's layers before and after the GRU; a multiple of 16."),
      integer("gru-width", gru_width, 16, 65536, "Width of the GRU's state; a multiple of 16."),
      integer("heads", heads, 1, 1024, "Heads of the encoder's attention."),
      integer("head-size", head_size, 1, 1024,
              "Latent numbers per head; heads times head-size is a multiple of 8."),
  };
}

namespace {

/// Minibatches that show the network about as much experience whatever the dataset's size.
std::int64_t default_steps(const Trajectories& data, std::int64_t batch_trajectories) {
  const double passes = std::min(24.0, 12.5e6 / static_cast<double>(data.steps()));
  const double per_pass =
      static_cast<double>(data.episodes()) / static_cast<double>(batch_trajectories);
  return std::max<std::int64_t>(300, std::llround(passes * per_pass));
}

}  // namespace

void resolve_shared(Options& options, const Trajectories& data) {
  options.merge_to = resolve_merge_to(options.k, options.merge_to, data);
  for (const auto& [name, width] :
       {std::pair{"hidden", options.hidden}, std::pair{"gru-width", options.gru_width}})
    if (width % 16 != 0)
      throw InvalidArgument("{} is {}; it must be a multiple of 16", name, width);
  if (options.heads * options.head_size % 8 != 0)
    throw InvalidArgument("heads times head-size is {}; it must be a multiple of 8",
                          options.heads * options.head_size);
  const auto n = data.episodes();
  if (options.batch_trajectories == 0)
    options.batch_trajectories = std::clamp<std::int64_t>(n / 8, 1, 64);
  options.batch_trajectories = std::min(options.batch_trajectories, n);
  if (options.max_steps == 0) options.max_steps = default_steps(data, options.batch_trajectories);
  options.standardize = resolve_standardize(options.standardize, data.observations);
  options.buffer_steps = resolve_buffer(options.buffer_steps, data);
}

AutoencoderArchitecture architecture_for(const Trajectories& data, const NetworkInputs& inputs,
                                         const Options& options) {
  return {.inputs = inputs.count(),
          .discrete = data.actions.is_discrete(),
          .actions = data.actions.is_discrete() ? data.actions.count() : data.actions.dim(),
          .hidden = options.hidden,
          .memory = options.gru_width,
          .heads = options.heads,
          .head_size = options.head_size};
}

OptionTable joined(OptionTable first, OptionTable second) {
  std::ranges::move(second, std::back_inserter(first));
  return first;
}

}  // namespace kindred::latent
