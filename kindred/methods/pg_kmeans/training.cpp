#include "kindred/methods/pg_kmeans/training.h"

#include <cmath>
#include <limits>

#include "kindred/core/error.h"

namespace kindred::pg_kmeans {

AdamOptions adam_options(const Options& options) {
  return {.learning_rate = options.learning_rate, .max_gradient_norm = options.max_gradient_norm};
}

void train_until_plateau(StackedAdam& optimiser, const Options& options,
                         const std::function<at::Tensor()>& losses) {
  double previous = std::numeric_limits<double>::infinity();
  at::Tensor window;  // summed on the device: the host waits once per window, not per step
  for (std::int64_t step = 1; step <= options.max_steps; ++step) {
    const auto loss = losses();
    optimiser.step(loss.sum());
    const auto mean = loss.detach().mean();
    window = window.defined() ? window + mean : mean;
    if (step % options.plateau_steps != 0) continue;

    const double present = window.item<double>() / static_cast<double>(options.plateau_steps);
    if (!std::isfinite(present))
      throw NumericError(
          "training diverged: the policies' loss is {}; lower the learning rate (now {})", present,
          options.learning_rate);
    if (previous - present < options.plateau_tolerance) return;
    previous = present;
    window = at::Tensor();
  }
}

}  // namespace kindred::pg_kmeans
