#include "kindred/policies/error_forms.h"

#include <algorithm>

#include "kindred/nn/vectorise.h"

namespace kindred {
namespace {

constexpr std::int64_t kRowsAtOnce = 2, kFormsAtOnce = 4;  // their sums stay in registers
constexpr std::int64_t kLanes = 8;
using Lanes = double
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));

/// out[r, c] = ⟨rows[r], forms[c]⟩, each of n numbers.
KINDRED_VECTORISE
void products(std::int64_t n, const double* const* rows, const double* const* forms, double* out) {
  Lanes sums[kRowsAtOnce][kFormsAtOnce] = {};
  double rest[kRowsAtOnce][kFormsAtOnce] = {};
  std::int64_t p = 0;
  for (; p + kLanes <= n; p += kLanes)
    for (std::int64_t r = 0; r < kRowsAtOnce; ++r) {
      const Lanes a = *reinterpret_cast<const Lanes*>(rows[r] + p);
      for (std::int64_t c = 0; c < kFormsAtOnce; ++c)
        sums[r][c] += a * *reinterpret_cast<const Lanes*>(forms[c] + p);
    }
  for (; p < n; ++p)
    for (std::int64_t r = 0; r < kRowsAtOnce; ++r)
      for (std::int64_t c = 0; c < kFormsAtOnce; ++c) rest[r][c] += rows[r][p] * forms[c][p];
  for (std::int64_t r = 0; r < kRowsAtOnce; ++r)
    for (std::int64_t c = 0; c < kFormsAtOnce; ++c) {
      double sum = rest[r][c];
      for (std::int64_t l = 0; l < kLanes; ++l) sum += sums[r][c][l];
      out[r * kFormsAtOnce + c] = sum;
    }
}

}  // namespace

ErrorForms ErrorForms::of_targets(const StatisticsLayout& layout, std::span<const double> policy) {
  ErrorForms result(layout);
  result.forms_.resize(static_cast<std::size_t>(layout.targets * layout.size()), 0.0);
  for (std::int64_t d = 0; d < layout.targets; ++d)
    result.add(d, policy.data() + d, layout.targets, d, 1.0);
  return result;
}

ErrorForms ErrorForms::of_policies(const StatisticsLayout& layout, std::span<const double> weights,
                                   std::int64_t k, std::span<const double> noise) {
  ErrorForms result(layout);
  result.forms_.resize(static_cast<std::size_t>(k * layout.size()), 0.0);
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t d = 0; d < layout.targets; ++d)
      result.add(j, weights.data() + j * layout.targets + d, k * layout.targets, d,
                 1.0 / noise[static_cast<std::size_t>(d)]);
  return result;
}

void ErrorForms::add(std::int64_t form, const double* weights, std::int64_t stride,
                     std::int64_t target, double scale) {
  double* to = forms_.data() + form * layout_.size();
  double* cross = to + layout_.cross() + target;
  for (std::int64_t m = 0; m < layout_.features; ++m) {
    const double own = scale * weights[m * stride];
    for (std::int64_t l = 0; l < m; ++l) *to++ += 2.0 * own * weights[l * stride];
    *to++ += own * weights[m * stride];
    cross[m * layout_.targets] -= 2.0 * own;
  }
  forms_[static_cast<std::size_t>(form * layout_.size() + layout_.squares() + target)] += scale;
}

Matrix ErrorForms::errors(std::span<const double* const> rows) const {
  const auto size = layout_.size();
  const auto forms = std::ssize(forms_) / size;
  Matrix result(std::ssize(rows), forms);
  // A block past the last row or form computes the last one again.
  for (std::int64_t r = 0; r < result.rows; r += kRowsAtOnce) {
    const double* row[kRowsAtOnce];
    for (std::int64_t i = 0; i < kRowsAtOnce; ++i)
      row[i] = rows[static_cast<std::size_t>(std::min(r + i, result.rows - 1))];
    for (std::int64_t c = 0; c < forms; c += kFormsAtOnce) {
      const double* form[kFormsAtOnce];
      for (std::int64_t i = 0; i < kFormsAtOnce; ++i)
        form[i] = forms_.data() + std::min(c + i, forms - 1) * size;
      double block[kRowsAtOnce * kFormsAtOnce];
      products(size, row, form, block);
      for (std::int64_t i = 0; i < std::min(kRowsAtOnce, result.rows - r); ++i)
        for (std::int64_t j = 0; j < std::min(kFormsAtOnce, forms - c); ++j)
          result(r + i, c + j) = std::max(0.0, block[i * kFormsAtOnce + j]);
    }
  }
  return result;
}

}  // namespace kindred
