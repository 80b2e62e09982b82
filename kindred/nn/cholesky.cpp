#include "kindred/nn/cholesky.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/vectorise.h"
#include "kindred/nn/gemm.h"

namespace kindred {
namespace {

constexpr std::int64_t kAtOnce = 4, kVectors = 2;  // rows, and vectors of each, kept in registers
constexpr std::int64_t kLanes = kDoubleLane, kRun = kVectors * kLanes;
using Lanes = double
    __attribute__((vector_size(kLanes * sizeof(double)), aligned(sizeof(double)), may_alias));

/// A matrix in memory, its rows `stride` apart.
template <class T>
struct Rows {
  T* data;
  std::int64_t stride;

  T* from(std::int64_t row) const { return data + row * stride; }
};
using Factor = Rows<const double>;

/// Rows j to j + kAtOnce of x less multiples of all rows before them, and of each other: row i less
/// Σ_{p<i} factor[p, i] · x[p], over what `pivot` makes of its own. Only numbers [begin, end) of
/// the rows, multiples of kRun, which are 0 in rows before `first(number)`.
[[gnu::always_inline]] inline void eliminate(std::int64_t j, std::int64_t begin, std::int64_t end,
                                             const Factor& factor, const Rows<double>& x,
                                             auto first, auto pivot) {
  for (auto at = begin; at < end; at += kRun) {
    Lanes sum[kAtOnce][kVectors];
    for (std::int64_t r = 0; r < kAtOnce; ++r)
      for (std::int64_t v = 0; v < kVectors; ++v)
        sum[r][v] = *reinterpret_cast<const Lanes*>(x.from(j + r) + at + v * kLanes);
    for (std::int64_t p = first(at); p < j; ++p)
      for (std::int64_t v = 0; v < kVectors; ++v) {
        const Lanes row = *reinterpret_cast<const Lanes*>(x.from(p) + at + v * kLanes);
        for (std::int64_t r = 0; r < kAtOnce; ++r) sum[r][v] -= factor.from(p)[j + r] * row;
      }
    for (std::int64_t r = 0; r < kAtOnce; ++r)
      for (std::int64_t v = 0; v < kVectors; ++v)
        *reinterpret_cast<Lanes*>(x.from(j + r) + at + v * kLanes) = sum[r][v];
  }
  for (auto i = j; i < j + kAtOnce; ++i) {
    double* __restrict own = x.from(i);
    for (auto p = j; p < i; ++p) {
      const double* __restrict row = x.from(p);
      const double multiple = factor.from(p)[i];
      for (auto at = begin; at < end; ++at) own[at] -= multiple * row[at];
    }
    const double scale = 1.0 / pivot(i);
    for (auto at = begin; at < end; ++at) own[at] *= scale;
  }
}

/// The columns of a matrix become those of its factor, and the right sides behind them L⁻¹ times
/// what they were. What stands before a column's diagonal means nothing.
KINDRED_VECTORISE
void factorise(std::int64_t n, const Rows<double>& columns) {
  const Factor factor{columns.data, columns.stride};
  for (std::int64_t j = 0; j < n; j += kAtOnce)
    eliminate(
        j, j / kRun * kRun, columns.stride, factor, columns, [](std::int64_t) { return 0; },
        [&](std::int64_t i) { return std::sqrt(columns.from(i)[i]); });
}

/// An identity becomes L⁻¹.
KINDRED_VECTORISE
void invert(std::int64_t n, const Factor& columns, const Rows<double>& inverse) {
  for (std::int64_t j = 0; j < n; j += kAtOnce)
    eliminate(
        j, 0, padded(j + kAtOnce, kRun), columns, inverse, [](std::int64_t at) { return at; },
        [&](std::int64_t i) { return columns.from(i)[i]; });
}

/// x = L⁻ᵀ times right sides behind the columns, from `at` on, as many as a vector holds: [n] of
/// such.
KINDRED_VECTORISE
void substitute_back(std::int64_t n, std::int64_t at, const Factor& columns,
                     const Rows<double>& x) {
  for (auto i = n; i-- > 0;) {
    const double* const column = columns.from(i);
    Lanes sums[kAtOnce] = {*reinterpret_cast<const Lanes*>(column + at)};  // do not wait for others
    auto j = i + 1;
    for (; j + kAtOnce <= n; j += kAtOnce)
      for (std::int64_t s = 0; s < kAtOnce; ++s)
        sums[s] -= column[j + s] * *reinterpret_cast<const Lanes*>(x.from(j + s));
    for (; j < n; ++j) sums[0] -= column[j] * *reinterpret_cast<const Lanes*>(x.from(j));
    *reinterpret_cast<Lanes*>(x.from(i)) = ((sums[0] + sums[1]) + (sums[2] + sums[3])) / column[i];
  }
}

}  // namespace

CholeskyFactor::CholeskyFactor(std::int64_t n, std::span<const double> lower, double ridge,
                               std::int64_t right_sides, std::span<const double> right)
    : n_(n),
      padded_(padded(n, kAtOnce)),
      right_sides_(right_sides),
      stride_(padded(padded_ + padded(right_sides, kLanes), kRun)),
      columns_(static_cast<std::size_t>(padded_ * stride_), 0.0) {
  const double* from = lower.data();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j)
      columns_[static_cast<std::size_t>(j * stride_ + i)] = *from++;
    columns_[static_cast<std::size_t>(i * stride_ + i)] += ridge;
    std::copy_n(right.data() + i * right_sides, right_sides,
                columns_.data() + i * stride_ + padded_);
  }
  for (auto i = n; i < padded_; ++i) columns_[static_cast<std::size_t>(i * stride_ + i)] = 1.0;
  factorise(padded_, {columns_.data(), stride_});
}

std::vector<double> CholeskyFactor::solution() const {
  static_assert(kAtOnce == 4);
  std::vector<double> x(static_cast<std::size_t>(padded_ * kLanes)),
      result(static_cast<std::size_t>(n_ * right_sides_));
  for (std::int64_t first = 0; first < right_sides_; first += kLanes) {
    substitute_back(padded_, padded_ + first, {columns_.data(), stride_}, {x.data(), kLanes});
    for (std::int64_t i = 0; i < n_; ++i)
      std::copy_n(x.data() + i * kLanes, std::min(kLanes, right_sides_ - first),
                  result.data() + i * right_sides_ + first);
  }
  return result;
}

std::vector<double> CholeskyFactor::forms() const {
  std::vector<double> result(static_cast<std::size_t>(right_sides_), 0.0);
  for (std::int64_t i = 0; i < n_; ++i)
    for (std::int64_t c = 0; c < right_sides_; ++c) {
      const double value = columns_[static_cast<std::size_t>(i * stride_ + padded_ + c)];
      result[static_cast<std::size_t>(c)] += value * value;
    }
  return result;
}

double CholeskyFactor::inverse_trace() const {
  std::vector<double> inverse(static_cast<std::size_t>(padded_ * stride_), 0.0);
  for (std::int64_t i = 0; i < padded_; ++i)
    inverse[static_cast<std::size_t>(i * stride_ + i)] = 1.0;
  invert(padded_, {columns_.data(), stride_}, {inverse.data(), stride_});
  double trace = 0.0;
  for (std::int64_t i = 0; i < n_; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const double value = inverse[static_cast<std::size_t>(i * stride_ + j)];
      trace += value * value;
    }
  return trace;
}

}  // namespace kindred
