#include "kindred/nn/gemm.h"

#include <algorithm>

#include "kindred/nn/vectorise.h"

namespace kindred {
namespace {

using Lane = float __attribute__((vector_size(kLane * sizeof(float))));
// The same in memory, where nothing promises alignment.
using LaneInMemory =
    float __attribute__((vector_size(kLane * sizeof(float)), aligned(sizeof(float)), may_alias));

constexpr std::int64_t kRows = 6;     // of C in registers at once, by two lanes: 12 sums
constexpr std::int64_t kDepth = 256;  // rows of B per pass: a panel stays in the first cache

/// Rows × Lanes of C, with all sums in registers.
template <int Rows, int Lanes>
[[gnu::always_inline]] inline void tile(std::int64_t n, std::int64_t k, StridedMatrix a,
                                        const float* b, float* c, bool accumulate) {
  Lane sum[Rows][Lanes];
  for (int r = 0; r < Rows; ++r)
    for (int l = 0; l < Lanes; ++l)
      sum[r][l] =
          accumulate ? Lane(*reinterpret_cast<const LaneInMemory*>(c + r * n + l * kLane)) : Lane{};
  for (std::int64_t p = 0; p < k; ++p, b += n, a.data += a.column_stride) {
    Lane row[Lanes];
    for (int l = 0; l < Lanes; ++l) row[l] = *reinterpret_cast<const LaneInMemory*>(b + l * kLane);
    for (int r = 0; r < Rows; ++r)
      for (int l = 0; l < Lanes; ++l) sum[r][l] += a.data[r * a.row_stride] * row[l];
  }
  for (int r = 0; r < Rows; ++r)
    for (int l = 0; l < Lanes; ++l)
      *reinterpret_cast<LaneInMemory*>(c + r * n + l * kLane) = sum[r][l];
}

/// All rows of C for one column of lanes.
template <int Lanes>
[[gnu::always_inline]] inline void panel(std::int64_t m, std::int64_t n, std::int64_t k,
                                         StridedMatrix a, const float* b, float* c,
                                         bool accumulate) {
  std::int64_t i = 0;
  const auto at = [&](std::int64_t row) {
    return StridedMatrix{a.data + row * a.row_stride, a.row_stride, a.column_stride};
  };
  for (; i + kRows <= m; i += kRows) tile<kRows, Lanes>(n, k, at(i), b, c + i * n, accumulate);
  switch (m - i) {
    case 5:
      return tile<5, Lanes>(n, k, at(i), b, c + i * n, accumulate);
    case 4:
      return tile<4, Lanes>(n, k, at(i), b, c + i * n, accumulate);
    case 3:
      return tile<3, Lanes>(n, k, at(i), b, c + i * n, accumulate);
    case 2:
      return tile<2, Lanes>(n, k, at(i), b, c + i * n, accumulate);
    case 1:
      return tile<1, Lanes>(n, k, at(i), b, c + i * n, accumulate);
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
    const StridedMatrix a_part{a.data + depth * a.column_stride, a.row_stride, a.column_stride};
    const float* b_part = b + depth * n;
    const bool add = accumulate || depth > 0;
    std::int64_t j = 0;
    for (; j + 2 * kLane <= n; j += 2 * kLane) panel<2>(m, n, part, a_part, b_part + j, c + j, add);
    if (j < n) panel<1>(m, n, part, a_part, b_part + j, c + j, add);
  }
}

}  // namespace kindred
