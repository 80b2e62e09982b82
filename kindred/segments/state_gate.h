// Which of two policies is to be expected by the state alone: logistic regression on features.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

/// Rows of two kinds: the first `firsts` of them are of the first kind.
struct TwoKinds {
  std::vector<float> rows = {};  ///< [rows, features]
  std::int64_t features = 0;
  std::int64_t firsts = 0;
  double first_weight = 1.0, second_weight = 1.0;  ///< How often a row of each kind counts.
};

/// Weights [features] of the log-odds that a row is of the first kind, by Newton's method with a
/// small ridge.
std::vector<double> fit_log_odds(const TwoKinds& sample);

}  // namespace kindred
