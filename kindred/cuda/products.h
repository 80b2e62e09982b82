// Products of matrices on a GPU: layers forward, deltas back through them, and gradients of
// weights, as good as in floats. Plain numbers and pointers into the GPU's memory; nothing waits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace kindred::cuda {

/// The width of rows that begin where four numbers can be read at once.
constexpr std::int64_t in_fours(std::int64_t width) { return (width + 3) / 4 * 4; }

/// Neighbouring columns of a matrix. They begin at a multiple of four numbers and so does every
/// row; what follows them up to the next multiple is no part of it, but finite.
struct Columns {
  const float* values = nullptr;  ///< [rows, stride]
  int width = 0;
  int stride = 0;

  Columns() = default;
  Columns(const float* v, std::int64_t w) : Columns(v, w, w) {}
  Columns(const float* v, std::int64_t w, std::int64_t s)
      : values(v), width(static_cast<int>(w)), stride(static_cast<int>(s)) {}
};

/// out = inputs · weight + bias, then what the flags say. In the default stream.
struct Layer {
  Columns inputs;
  std::int64_t count = 0;         ///< Rows.
  const float* weight = nullptr;  ///< [inputs, outputs], or [outputs, inputs] when transposed.
  const float* bias = nullptr;    ///< [outputs], or none.
  int outputs = 0;
  float* out = nullptr;  ///< [count, stride]
  int stride = 0;        ///< Of `out`.
  bool transposed = false;
  bool rectify = false;           ///< Negative numbers become 0.
  bool add = false;               ///< To what is in `out`.
  const float* active = nullptr;  ///< [count, outputs], or none: 0 where this is not positive.
};
void apply(const Layer& layer);

/// inputsᵀ · deltas, and below it, where there is a bias, the sums of the deltas' columns; each of
/// some chunks of the rows leaves its own sum, so that they can be added in order.
struct WeightGradient {
  Columns inputs, deltas;
  float* out = nullptr;  ///< [inputs (+ 1), stride] of the first chunk
  int stride = 0;        ///< Of `out`.
  bool bias = false;
};
inline constexpr std::size_t kMostGradients = 8;
/// All of them, at most kMostGradients, in one launch in `stream`.
void find(std::span<const WeightGradient> gradients, std::int64_t count, int chunks,
          std::int64_t chunk_stride, cudaStream_t stream);

/// sums[i] = Σ_c parts[c · stride + i]
void add_parts(const float* parts, int count, std::int64_t stride, std::int64_t numbers,
               float* sums);

}  // namespace kindred::cuda
