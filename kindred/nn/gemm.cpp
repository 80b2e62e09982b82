#include "kindred/nn/gemm.h"

#include <algorithm>

#include "kindred/nn/vectorise.h"

namespace kindred {
namespace {

constexpr std::size_t kLaneBytes = kLane * sizeof(float);

template <class T>
struct Lanes {
  // A using would ignore the attributes of a type that is not yet known.
  typedef T Value __attribute__((vector_size(kLaneBytes)));
  // The same in memory, where nothing promises alignment.
  typedef T InMemory __attribute__((vector_size(kLaneBytes), aligned(sizeof(T)), may_alias));
  static constexpr std::int64_t kWidth = kLaneBytes / sizeof(T);
};

/// A(i, j) = data[i * row_stride + j * column_stride].
template <class T>
struct Operand {
  const T* data;
  std::int64_t row_stride, column_stride;
};

constexpr std::int64_t kRows = 6;     // of C in registers at once, by two lanes: 12 sums
constexpr std::int64_t kDepth = 256;  // rows of B per pass: a panel stays in the first cache

/// Rows × Columns lanes of C, with all sums in registers.
template <class T, int Rows, int Columns>
[[gnu::always_inline]] inline void tile(std::int64_t n, std::int64_t k, Operand<T> a, const T* b,
                                        T* c, bool accumulate) {
  using Lane = typename Lanes<T>::Value;
  using InMemory = typename Lanes<T>::InMemory;
  constexpr auto kWidth = Lanes<T>::kWidth;
  Lane sum[Rows][Columns];
  for (int r = 0; r < Rows; ++r)
    for (int l = 0; l < Columns; ++l)
      sum[r][l] =
          accumulate ? Lane(*reinterpret_cast<const InMemory*>(c + r * n + l * kWidth)) : Lane{};
  for (std::int64_t p = 0; p < k; ++p, b += n, a.data += a.column_stride) {
    Lane row[Columns];
    for (int l = 0; l < Columns; ++l) row[l] = *reinterpret_cast<const InMemory*>(b + l * kWidth);
    for (int r = 0; r < Rows; ++r)
      for (int l = 0; l < Columns; ++l) sum[r][l] += a.data[r * a.row_stride] * row[l];
  }
  for (int r = 0; r < Rows; ++r)
    for (int l = 0; l < Columns; ++l)
      *reinterpret_cast<InMemory*>(c + r * n + l * kWidth) = sum[r][l];
}

/// All rows of C for one or two columns of lanes.
template <int Columns, class T>
[[gnu::always_inline]] inline void panel(std::int64_t m, std::int64_t n, std::int64_t k,
                                         Operand<T> a, const T* b, T* c, bool accumulate) {
  std::int64_t i = 0;
  const auto at = [&](std::int64_t row) {
    return Operand<T>{a.data + row * a.row_stride, a.row_stride, a.column_stride};
  };
  for (; i + kRows <= m; i += kRows) tile<T, kRows, Columns>(n, k, at(i), b, c + i * n, accumulate);
  switch (m - i) {
    case 5:
      return tile<T, 5, Columns>(n, k, at(i), b, c + i * n, accumulate);
    case 4:
      return tile<T, 4, Columns>(n, k, at(i), b, c + i * n, accumulate);
    case 3:
      return tile<T, 3, Columns>(n, k, at(i), b, c + i * n, accumulate);
    case 2:
      return tile<T, 2, Columns>(n, k, at(i), b, c + i * n, accumulate);
    case 1:
      return tile<T, 1, Columns>(n, k, at(i), b, c + i * n, accumulate);
    default:
      return;
  }
}

}  // namespace

KINDRED_VECTORISE
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, StridedMatrix a, const float* b, float* c,
          bool accumulate) {
  for (std::int64_t depth = 0; depth < k; depth += kDepth) {
    const auto part = std::min(kDepth, k - depth);
    const Operand<float> a_part{a.data + depth * a.column_stride, a.row_stride, a.column_stride};
    const float* b_part = b + depth * n;
    const bool add = accumulate || depth > 0;
    std::int64_t j = 0;
    for (; j + 2 * kLane <= n; j += 2 * kLane) panel<2>(m, n, part, a_part, b_part + j, c + j, add);
    if (j < n) panel<1>(m, n, part, a_part, b_part + j, c + j, add);
  }
}

KINDRED_VECTORISE
void add_gram(std::int64_t n, std::int64_t width, const double* x, double* c) {
  static_assert(Lanes<double>::kWidth == kDoubleLane);
  // Under a panel's columns only the rows from its diagonal on are needed.
  std::int64_t j = 0;
  const auto from = [&] { return Operand<double>{x + j, 1, width}; };
  for (; j + 2 * kDoubleLane <= width; j += 2 * kDoubleLane)
    panel<2>(width - j, width, n, from(), x + j, c + j * width + j, true);
  if (j < width) panel<1>(width - j, width, n, from(), x + j, c + j * width + j, true);
}

}  // namespace kindred
