#include "kindred/policies/error_forms.h"

#include <algorithm>

#include "kindred/core/vectorise.h"

namespace kindred {
namespace {

constexpr std::int64_t kMostRows = 4, kFormsAtOnce = 6;
constexpr std::int64_t kLanes = 8;
using Lanes = double
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));

/// So many that their sums stay in registers.
std::int64_t rows_at_once() {
#if KINDRED_GENERATIONS
  static const bool wide = __builtin_cpu_supports("avx512f") != 0;
  return wide ? kMostRows : 2;
#else
  return 2;
#endif
}

/// out[r, c] = ⟨rows[r], forms[c]⟩, each of n numbers; forms lie one after the other.
template <std::int64_t kRows, std::int64_t kForms>
[[gnu::always_inline]] inline void tile(std::int64_t n, const double* const* rows,
                                        const double* forms, double* out) {
  Lanes sums[kRows][kForms] = {};
  std::int64_t p = 0;
  for (; p + kLanes <= n; p += kLanes)
    for (std::int64_t r = 0; r < kRows; ++r) {
      const Lanes a = *reinterpret_cast<const Lanes*>(rows[r] + p);
      for (std::int64_t c = 0; c < kForms; ++c)
        sums[r][c] += a * *reinterpret_cast<const Lanes*>(forms + c * n + p);
    }
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < kForms; ++c) {
      double sum = 0.0;
      for (auto q = p; q < n; ++q) sum += rows[r][q] * forms[c * n + q];
      for (std::int64_t l = 0; l < kLanes; ++l) sum += sums[r][c][l];
      out[r * kForms + c] = sum;
    }
}

template <std::int64_t kForms>
[[gnu::always_inline]] inline void products_of(std::int64_t n, std::int64_t count,
                                               const double* const* rows, const double* forms,
                                               double* out) {
  static_assert(kMostRows == 4);
  count == kMostRows ? tile<4, kForms>(n, rows, forms, out) : tile<2, kForms>(n, rows, forms, out);
}

/// The same for as many rows as are taken at once, and any number of forms up to kFormsAtOnce.
KINDRED_VECTORISE
void products(std::int64_t n, std::int64_t rows_count, const double* const* rows,
              std::int64_t forms_count, const double* forms, double* out) {
  static_assert(kFormsAtOnce == 6);
  switch (forms_count) {
    case 1:
      return products_of<1>(n, rows_count, rows, forms, out);
    case 2:
      return products_of<2>(n, rows_count, rows, forms, out);
    case 3:
      return products_of<3>(n, rows_count, rows, forms, out);
    case 4:
      return products_of<4>(n, rows_count, rows, forms, out);
    case 5:
      return products_of<5>(n, rows_count, rows, forms, out);
    default:
      return products_of<6>(n, rows_count, rows, forms, out);
  }
}

}  // namespace

void ErrorForms::set_targets(std::span<const double> policy) {
  forms_.assign(static_cast<std::size_t>(layout_.targets * layout_.size()), 0.0);
  for (std::int64_t d = 0; d < layout_.targets; ++d)
    add(d, policy.data() + d, layout_.targets, d, 1.0);
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
  const auto tiles = (forms + kFormsAtOnce - 1) / kFormsAtOnce, at_once = rows_at_once();
  // A block past the last row computes the last one again.
  for (std::int64_t r = 0; r < result.rows; r += at_once) {
    const double* row[kMostRows];
    for (std::int64_t i = 0; i < at_once; ++i)
      row[i] = rows[static_cast<std::size_t>(std::min(r + i, result.rows - 1))];
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      const auto c = forms * tile / tiles, count = forms * (tile + 1) / tiles - c;
      double block[kMostRows * kFormsAtOnce];
      products(size, at_once, row, count, forms_.data() + c * size, block);
      for (std::int64_t i = 0; i < std::min(at_once, result.rows - r); ++i)
        for (std::int64_t j = 0; j < count; ++j)
          result(r + i, c + j) = std::max(0.0, block[i * count + j]);
    }
  }
  return result;
}

}  // namespace kindred
