// When to stop training within a round.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/methods/pg_kmeans/options.h"

namespace kindred::pg_kmeans {

/// Ends a training loop when the mean loss over a window of `plateau_steps` steps improved by less
/// than `plateau_tolerance` on the mean over the window before, or after `max_steps`.
class Plateau {
 public:
  explicit Plateau(const Options& options) : options_(options) {}

  /// Takes the loss of one step; true when training should end. Throws NumericError when the loss
  /// is not a number.
  bool reached(double loss) {
    ++step_;
    sum_ += loss;
    if (++averaged_ >= options_.plateau_steps && passes_ > passes_before_) {
      const double mean = sum_ / static_cast<double>(averaged_);
      if (!std::isfinite(mean))
        throw NumericError("training diverged (loss {}); lower learning-rate, now {}", mean,
                           options_.learning_rate);
      if (previous_ - mean < options_.plateau_tolerance) return true;
      previous_ = mean;
      sum_ = 0.0;
      averaged_ = 0;
      if (whole_passes_) passes_before_ = passes_;
    }
    return step_ >= options_.max_steps;
  }
  /// Losses from now on are of other data, and are not compared with those of before.
  void begin_anew() {
    previous_ = std::numeric_limits<double>::infinity();
    sum_ = 0.0;
    averaged_ = 0;
  }
  /// All data has been gone through so many times: from now on a window is at least one pass, so
  /// that losses are compared on the same data.
  void wait_for_pass(std::int64_t passes) {
    if (!whole_passes_) passes_before_ = passes;
    whole_passes_ = true;
    passes_ = passes;
  }

 private:
  const Options& options_;
  std::int64_t step_ = 0;
  std::int64_t averaged_ = 0;  // of them, in sum_
  bool whole_passes_ = false;
  std::int64_t passes_ = 0;
  std::int64_t passes_before_ =
      -1;  // when the window began; less than any where none is waited for
  double sum_ = 0.0;
  double previous_ = std::numeric_limits<double>::infinity();
};

}  // namespace kindred::pg_kmeans
