// When to stop training within a round.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/methods/pg_kmeans/options.h"

namespace kindred::pg_kmeans {

/// Ends a training loop when the mean loss over `plateau_steps` steps improved by less than
/// `plateau_tolerance` on the mean over the steps before, or after `max_steps`.
class Plateau {
 public:
  explicit Plateau(const Options& options) : options_(options) {}

  /// Takes the loss of one step; true when training should end. Throws NumericError when the loss
  /// is not a number.
  bool reached(double loss) {
    ++step_;
    sum_ += loss;
    if (++averaged_ == options_.plateau_steps) {
      const double mean = sum_ / static_cast<double>(options_.plateau_steps);
      if (!std::isfinite(mean))
        throw NumericError("training diverged (loss {}); lower learning-rate, now {}", mean,
                           options_.learning_rate);
      if (previous_ - mean < options_.plateau_tolerance) return true;
      previous_ = mean;
      sum_ = 0.0;
      averaged_ = 0;
    }
    return step_ >= options_.max_steps;
  }
  /// Losses from now on are of other data, and are not compared with those of before.
  void begin_anew() {
    previous_ = std::numeric_limits<double>::infinity();
    sum_ = 0.0;
    averaged_ = 0;
  }

 private:
  const Options& options_;
  std::int64_t step_ = 0;
  std::int64_t averaged_ = 0;  // of them, in sum_
  double sum_ = 0.0;
  double previous_ = std::numeric_limits<double>::infinity();
};

}  // namespace kindred::pg_kmeans
