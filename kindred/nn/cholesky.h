// Solves linear equations whose matrix is symmetric and positive definite, by Cholesky's factor.
//
// The factor L lies column by column, so that every inner loop runs along one, and the right sides
// are further rows of the matrix: factorising it also substitutes forward.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

class CholeskyFactor {
 public:
  /// Of A + ridge·I, with the right sides of the equations: `lower` is the lower triangle of A row
  /// by row, [n(n + 1)/2]; `right` is [n, right sides]. The ridge keeps every pivot positive.
  CholeskyFactor(std::int64_t n, std::span<const double> lower, double ridge,
                 std::int64_t right_sides, std::span<const double> right);

  /// (A + ridge·I)⁻¹ · right: [n, right sides].
  std::vector<double> solution() const;
  /// rᵀ (A + ridge·I)⁻¹ r for each right side r: [right sides].
  std::vector<double> forms() const;
  /// The trace of (A + ridge·I)⁻¹.
  double inverse_trace() const;

 private:
  std::int64_t n_, padded_, right_sides_;  // padded: with the last columns of an identity
  std::int64_t stride_;                    // of a column, with the right sides behind it
  std::vector<double> columns_;            // [padded, stride]
};

}  // namespace kindred
