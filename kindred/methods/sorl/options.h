// The options of SORL. How the defaults were chosen: docs/decisions/0006-sorl-defaults.md.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/clustering/network_inputs.h"
#include "kindred/core/options.h"
#include "kindred/core/progress.h"
#include "kindred/policies/merge.h"
#include "kindred/policies/over_steps.h"

namespace kindred::sorl {

/// p(z|τ) ∝ Σ_t π_z(a_t|s_t), or ∝ Π_t π_z(a_t|s_t).
enum class Posterior { kSum, kProduct };

struct Options {
  std::int64_t k = 5;
  std::int64_t merge_to = 0;
  std::int64_t restarts = 1;
  std::int64_t seed = 0;
  Posterior posterior = Posterior::kSum;
  std::int64_t max_rounds = 100;
  double change_tolerance = 0.001;
  std::int64_t plateau_rounds = 10;
  double plateau_tolerance = 1e-3;
  MergeRule merge_rule = MergeRule::kLeastLoss;
  Standardize standardize = Standardize::kAuto;
  std::int64_t hidden = 128;
  std::int64_t hidden_layers = 2;
  double learning_rate = 1e-3;
  double max_gradient_norm = 0.5;
  std::int64_t batch_trajectories = 64;
  std::int64_t batch_steps = 2048;
  std::int64_t buffer_steps = 0;

  OverSteps over_steps() const {
    return posterior == Posterior::kSum ? OverSteps::kLogOfSum : OverSteps::kSumOfLogs;
  }
  OptionTable describe();
};

/// The options as they will be used on `data`. Throws InvalidArgument when they cannot be.
Options resolve(Options options, const Trajectories& data);
std::vector<UnusedOptions> unused_options(const Options& options, const Trajectories& data,
                                          const RunContext& run);

}  // namespace kindred::sorl
