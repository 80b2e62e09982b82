// Squared errors as products. With w the weights of one target, Σ(a - ⟨w, φ⟩)² is the scalar
// product of the sums (Σφφᵀ, Σφa, Σa²) with (wwᵀ, -2w, 1): the errors of many rows of sums under
// many policies are one product of matrices, and errors added over targets cost as much as those of
// one.
#pragma once

#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/policies/episode_statistics.h"

namespace kindred {

class ErrorForms {
 public:
  explicit ErrorForms(const StatisticsLayout& layout) : layout_(layout) {}
  /// One for each target of a policy, [features, targets].
  static ErrorForms of_targets(const StatisticsLayout& layout, std::span<const double> policy) {
    ErrorForms result(layout);
    result.set_targets(policy);
    return result;
  }
  /// One for each of k policies side by side, [features, k × targets]: errors are over the noise of
  /// their target, and added.
  static ErrorForms of_policies(const StatisticsLayout& layout, std::span<const double> weights,
                                std::int64_t k, std::span<const double> noise);

  /// Those of another policy in their place, in the same memory.
  void set_targets(std::span<const double> policy);
  /// The errors of rows of sums, each [layout.size()], under every form: [rows, forms].
  Matrix errors(std::span<const double* const> rows) const;

 private:
  /// Adds the errors of a target, whose weights are `stride` apart, times `scale` to a form.
  void add(std::int64_t form, const double* weights, std::int64_t stride, std::int64_t target,
           double scale);

  StatisticsLayout layout_;
  std::vector<double> forms_;  // [forms, size]
};

}  // namespace kindred
