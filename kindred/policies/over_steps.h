// How the log-probabilities of a trajectory's steps become its score under a policy.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

namespace kindred {

/// Σ_t log π(a_t|s_t), the log-likelihood; or log Σ_t π(a_t|s_t), as SORL has it.
enum class OverSteps { kSumOfLogs, kLogOfSum };

/// The score of a trajectory before its first step.
constexpr double score_of_no_steps(OverSteps over) {
  return over == OverSteps::kSumOfLogs ? 0.0 : -std::numeric_limits<double>::infinity();
}

/// log(exp(a) + exp(b))
inline double log_of_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  // Two impossibilities stay impossible; their difference would not be a number.
  return std::isinf(b) ? a : a + std::log1p(std::exp(b - a));
}

inline double with_step(double score, double log_prob, OverSteps over) {
  return over == OverSteps::kSumOfLogs ? score + log_prob : log_of_sum(score, log_prob);
}

}  // namespace kindred
