// How much more an episode costs under a table than the table itself expects.
#pragma once

#include <cmath>
#include <cstdint>

namespace kindred {

/// Nats beside their expectation and variance over the actions the table might have taken in the
/// same observations. An observation it has never seen is answered with the usual actions of all
/// clusters, which expects as much as it costs: it counts neither for nor against.
class TableSurprise {
 public:
  /// One step: log-probabilities of all actions, `stride` numbers apart.
  void add(const double* log_probs, std::int64_t stride, std::int64_t actions, std::int64_t taken) {
    double mean = 0.0, square = 0.0;
    for (std::int64_t a = 0; a < actions; ++a) {
      const double nats = -log_probs[a * stride];
      if (std::isinf(nats)) continue;  // never taken
      mean += std::exp(-nats) * nats;
      square += std::exp(-nats) * nats * nats;
    }
    excess_ += -log_probs[taken * stride] - mean;
    variance_ += square - mean * mean;
  }

  /// In deviations. One nat is always left to chance: a table that expects none would be infinitely
  /// surprised by the first slip.
  double deviations() const { return excess_ / std::sqrt(1.0 + variance_); }

 private:
  double excess_ = 0.0;
  double variance_ = 0.0;
};

}  // namespace kindred
