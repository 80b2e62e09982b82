// Linear layers forwards and backwards over row-major buffers; widths are multiples of kLane.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "kindred/nn/elementwise.h"
#include "kindred/nn/gemm.h"

namespace kindred {

/// Makes room for n floats; what a buffer once held it keeps for the next batch.
inline void grow(std::vector<float>& buffer, std::int64_t n) {
  if (static_cast<std::int64_t>(buffer.size()) < n) buffer.resize(static_cast<std::size_t>(n));
}

/// out [rows, outputs] = x [rows, inputs] · weight + bias
inline void affine(std::int64_t rows, std::int64_t inputs, std::int64_t outputs, const float* x,
                   const float* weight, const float* bias, std::vector<float>& out) {
  grow(out, rows * outputs);
  fill_rows(rows, outputs, bias, out.data());
  gemm(rows, outputs, inputs, {x, inputs, 1}, weight, out.data(), true);
}

/// gradient [inputs, outputs] += xᵀ · delta
inline void weight_gradient(std::int64_t rows, std::int64_t inputs, std::int64_t outputs,
                            const float* x, const float* delta, float* gradient) {
  gemm(inputs, outputs, rows, {x, 1, inputs}, delta, gradient, true);
}

/// below [rows, inputs] = delta [rows, outputs] · weightᵀ
inline void pass_back(std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                      const float* delta, const float* transposed, std::vector<float>& below) {
  grow(below, rows * inputs);
  gemm(rows, inputs, outputs, {delta, outputs, 1}, transposed, below.data(), false);
}

/// Sums the steps' gradients into the distinct rows they came from; the steps' own when each step
/// has its own row, in the same order.
inline const float* gather_gradients(std::int64_t rows, std::int64_t width,
                                     const std::vector<std::int32_t>& row_of_step,
                                     const std::vector<float>& per_step,
                                     std::vector<float>& per_row) {
  const auto steps = static_cast<std::int64_t>(row_of_step.size());
  const bool increasing = std::adjacent_find(row_of_step.begin(), row_of_step.end(),
                                             std::greater_equal<>{}) == row_of_step.end();
  if (rows == steps && increasing) return per_step.data();
  per_row.assign(static_cast<std::size_t>(rows * width), 0.0F);
  for (std::int64_t s = 0; s < steps; ++s)
    add(width, per_step.data() + s * width,
        per_row.data() + row_of_step[static_cast<std::size_t>(s)] * width);
  return per_row.data();
}

}  // namespace kindred
