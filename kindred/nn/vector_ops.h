// The elementwise loops of policy networks, compiled for the processor at hand.
#pragma once

#include <cstdint>

namespace kindred {

/// Adam's factors for one step, with the bias corrections already in `rate` and `epsilon`.
struct AdamRates {
  float beta1, beta2, rate, epsilon;
};

/// One step of Adam on n parameters from `gradient` times `scale`.
void adam_update(std::int64_t n, const float* gradient, float scale, AdamRates a, float* first,
                 float* second, float* parameter);

float squared_norm(std::int64_t n, const float* x);

void relu(std::int64_t n, float* x);
/// Zeroes the gradient where the activation was cut off.
void mask_gradient(std::int64_t n, const float* activation, float* gradient);

/// The sum of the rows of x [rows, columns].
void sum_rows(std::int64_t rows, std::int64_t columns, const float* x, float* out);

/// Copies [rows, columns] as [columns, rows].
void transpose(std::int64_t rows, std::int64_t columns, const float* in, float* out);

}  // namespace kindred
