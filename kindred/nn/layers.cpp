#include "kindred/nn/layers.h"

#include <algorithm>
#include <functional>

namespace kindred {
namespace {

/// Calls visit(row, column, value) for every x [rows, columns] that is not 0, in order.
template <class Visit>
void for_each_set(std::int64_t rows, std::int64_t columns, const float* x, Visit visit) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < columns; ++i, ++x)
      if (*x != 0.0F) visit(r, i, *x);
}

}  // namespace

void Linear::forward(std::int64_t rows, const float* x, const float* parameters, float* out,
                     bool rectify) const {
  gemm(rows, outputs, inputs, {x, inputs, 1}, parameters + weight, out,
       {.bias = bias == kNoBias ? nullptr : parameters + bias,
        .rectify = rectify,
        .padding = padding});
}

void Linear::parameter_gradient(std::int64_t rows, const float* x, const float* delta,
                                float* gradient, bool add) const {
  gemm(inputs, outputs, rows, {x, 1, inputs}, delta, gradient + weight,
       {.accumulate = add,
        .padding = padding,
        .row_sums = bias == kNoBias ? nullptr : gradient + bias});
}

void Linear::narrow_parameter_gradient(std::int64_t rows, const float* x, const float* delta,
                                       float* gradient, std::vector<float>& transposed,
                                       bool add) const {
  grow(transposed, inputs * outputs);
  if (add) transpose(inputs, outputs, gradient + weight, transposed.data());
  gemm(outputs - padding, inputs, rows, {delta, 1, outputs}, x, transposed.data(), add);
  transpose(outputs, inputs, transposed.data(), gradient + weight);
  if (bias != kNoBias) sum_rows(rows, outputs, delta, gradient + bias, add);
}

void Linear::pass_back(std::int64_t rows, const float* delta, const float* transposed, float* below,
                       bool add, const float* rectified) const {
  gemm(rows, inputs, outputs - padding, {delta, outputs, 1}, transposed + weight, below,
       {.accumulate = add, .gate = rectified});
}

void Linear::transpose_weight(const float* parameters, float* transposed) const {
  transpose(inputs, outputs, parameters + weight, transposed + weight);
}

void Linear::forward_sparse(std::int64_t rows, const float* x, const float* parameters,
                            std::vector<float>& out) const {
  grow(out, rows * outputs);
  fill_rows(rows, outputs, parameters + bias, out.data());
  for_each_set(rows, inputs, x, [&](std::int64_t r, std::int64_t i, float value) {
    add_scaled(outputs, value, parameters + weight + i * outputs, out.data() + r * outputs);
  });
}

void Linear::parameter_gradient_sparse(std::int64_t rows, const float* x, const float* delta,
                                       float* gradient, bool add) const {
  if (!add) std::fill_n(gradient + weight, inputs * outputs, 0.0F);
  for_each_set(rows, inputs, x, [&](std::int64_t r, std::int64_t i, float value) {
    add_scaled(outputs, value, delta + r * outputs, gradient + weight + i * outputs);
  });
  sum_rows(rows, outputs, delta, gradient + bias, add);
}

void activate(Activation activation, std::int64_t n, float* x) {
  activation == Activation::kRelu ? relu(n, x) : tanh_rows(n, x);
}

void activation_gradient(Activation activation, std::int64_t n, const float* activated,
                         float* gradient) {
  activation == Activation::kRelu ? mask_gradient(n, activated, gradient)
                                  : tanh_gradient(n, activated, gradient);
}

const float* gather_gradients(std::int64_t rows, std::int64_t width,
                              const std::vector<std::int32_t>& row_of_step,
                              const std::vector<float>& per_step, std::vector<float>& per_row) {
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
