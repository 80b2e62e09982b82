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

inline double with_step(double score, double log_prob, OverSteps over) {
  if (over == OverSteps::kSumOfLogs) return score + log_prob;
  if (score < log_prob) std::swap(score, log_prob);
  // Two impossibilities stay impossible; their difference would not be a number.
  return std::isinf(log_prob) ? score : score + std::log1p(std::exp(log_prob - score));
}

}  // namespace kindred
