// The inner loop of the M-step: gradient steps until the loss stops falling.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>

#include "kindred/methods/pg_kmeans/options.h"
#include "kindred/nn/stacked_adam.h"

namespace kindred::pg_kmeans {

AdamOptions adam_options(const Options& options);

/// Calls `losses` for the loss of each policy ([size], differentiable), steps the optimiser, and
/// ends when the mean loss over `plateau_steps` steps improved by less than `plateau_tolerance`
/// on the mean over those before, or after `max_steps`. Throws NumericError when the loss is not
/// a number.
void train_until_plateau(StackedAdam& optimiser, const Options& options,
                         const std::function<at::Tensor()>& losses);

}  // namespace kindred::pg_kmeans
