// What every method with the trajectory autoencoder lets its user choose. Why the defaults are as
// they are: docs/decisions/0006-autoencoder-methods.md.
#pragma once

#include <cstdint>
#include <limits>

#include "kindred/clustering/network_inputs.h"
#include "kindred/core/options.h"
#include "kindred/nn/autoencoder.h"

namespace kindred::latent {

/// Whether a trajectory's reconstruction error is the sum over its steps or their mean.
enum class Reconstruction { kSum, kMean };

struct Options {
  std::int64_t k = 5;
  std::int64_t merge_to = 0;
  std::int64_t restarts = 1;
  std::int64_t seed = 0;
  Reconstruction reconstruction = Reconstruction::kSum;
  Standardize standardize = Standardize::kAuto;
  std::int64_t max_steps = 0;
  std::int64_t batch_trajectories = 0;
  std::int64_t buffer_steps = 0;
  double learning_rate = 1e-3;
  bool decay = true;
  double max_gradient_norm = std::numeric_limits<double>::infinity();
  std::int64_t hidden = 128;
  std::int64_t gru_width = 64;
  std::int64_t heads = 2;
  std::int64_t head_size = 8;

  OptionTable describe();
};

/// The options as they will be used on `data`. Throws InvalidArgument when they cannot be.
void resolve_shared(Options& options, const Trajectories& data);

AutoencoderArchitecture architecture_for(const Trajectories& data, const NetworkInputs& inputs,
                                         const Options& options);

/// `first` followed by `second`.
OptionTable joined(OptionTable first, OptionTable second);

}  // namespace kindred::latent
