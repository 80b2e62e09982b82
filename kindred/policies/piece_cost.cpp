#include "kindred/policies/piece_cost.h"

#include <algorithm>
#include <cmath>

namespace kindred {
namespace {

constexpr double kTrace = 1e-6;  // nats a step: less than a margin that means anything

/// Σ_d errors_d / noise_d, per step and target: 1 is usual.
double unusual(std::span<const double> errors, std::span<const double> noise, double steps) {
  double sum = 0.0;
  for (std::size_t d = 0; d < noise.size(); ++d) sum += errors[d] / noise[d];
  return sum / (steps * static_cast<double>(noise.size()));
}

}  // namespace

double piece_cost(std::span<const double> errors, std::span<const double> noise, double steps) {
  return 0.5 * steps * static_cast<double>(noise.size()) *
         std::min(kMostUnusual, unusual(errors, noise, steps));
}

double piece_cost_to_choose_by(std::span<const double> errors, std::span<const double> noise,
                               double steps) {
  return piece_cost(errors, noise, steps) +
         kTrace * steps * std::log1p(unusual(errors, noise, steps));
}

}  // namespace kindred
