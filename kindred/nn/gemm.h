// Single-threaded matrix products for the small, cache-resident shapes of policy networks.
//
// Why not BLAS: Debian's OpenBLAS does not know recent processors and falls back to kernels from
// 2004 on them, and its threads fight with ours. See docs/decisions/0003-cpu-kernels.md.
//
// Every sum is taken in the order of its terms, whatever the shape: a row comes out as the same
// bits alone and in a batch.
#pragma once

#include <cstdint>

namespace kindred {

/// Widths of matrices are padded to this many floats.
inline constexpr std::int64_t kLane = 16;

/// Those of matrices of doubles to this many.
inline constexpr std::int64_t kDoubleLane = 8;

constexpr std::int64_t padded(std::int64_t width, std::int64_t lane = kLane) {
  return (width + lane - 1) / lane * lane;
}

/// An operand read as A(i, j) = data[i * row_stride + j * column_stride].
struct StridedMatrix {
  const float* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// What the sums of a product start from, and what becomes of them before they are stored.
struct ProductEnds {
  bool accumulate = false;      ///< They start from what C holds,
  const float* bias = nullptr;  ///< or from this row [n], else from 0.
  bool rectify = false;         ///< Sums that are not positive become 0,
  const float* gate = nullptr;  ///< or those where this [m, n] is not positive.
  std::int64_t padding = 0;     ///< So many columns of B and of the bias, the last, are 0.
  float* row_sums = nullptr;    ///< This row [n] becomes the sum of B's rows, added to as C is.
};

/// C = A · B, between its ends. A is [m, k]; B is [k, n] and C is [m, n], both row-major and dense;
/// n must be a multiple of kLane.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, StridedMatrix a, const float* b, float* c,
          const ProductEnds& ends);

/// C = A · B, or C += A · B when `accumulate`.
inline void gemm(std::int64_t m, std::int64_t n, std::int64_t k, StridedMatrix a, const float* b,
                 float* c, bool accumulate) {
  gemm(m, n, k, a, b, c, ProductEnds{.accumulate = accumulate});
}

/// The lower triangle of XᵀX becomes that of C, or is added to it when `accumulate`. X is
/// [n, width] and C [width, width], both with rows `stride` numbers apart, a multiple of
/// kDoubleLane, or of kLane for floats. Past its width X is read, and past its triangle C is left
/// with numbers of no meaning.
void gram(std::int64_t n, std::int64_t width, std::int64_t stride, const double* x, double* c,
          bool accumulate);
void gram(std::int64_t n, std::int64_t width, std::int64_t stride, const float* x, float* c,
          bool accumulate);

/// Y = X · W + bias. X is [n, inputs] and Y [n, outputs], both with rows `stride` numbers apart; W
/// [inputs, outputs] is dense; `outputs` must be a multiple of kDoubleLane.
void project(std::int64_t n, std::int64_t inputs, std::int64_t outputs, std::int64_t stride,
             const double* x, const double* weights, const double* bias, double* y);

}  // namespace kindred
