// What a policy's outputs say of an action: the surprise, -log-probability, and its gradient.
#pragma once

#include <cstdint>

#include "kindred/cuda/layout.h"

namespace kindred::cuda {

inline constexpr float kHalfLogTwoPi = 0.918938533204672742F;

/// log(1 + x) of a number from 0 to 1, to 10⁻⁵ of itself: what GPUs have is not good near 1.
__device__ __forceinline__ float log_of_one_more(float x) {
  return x < 0.05F ? x * (1.0F - x * (0.5F - x * (1.0F / 3.0F - 0.25F * x))) : __logf(1.0F + x);
}

/// One number of an action under a Gaussian, with the gradient in place of mean and raw deviation.
__device__ __forceinline__ float gaussian_surprise(float& mean, float& raw, float action,
                                                   float factor) {
  const float small = __expf(-fabsf(raw));
  const float deviation = fmaxf(raw, 0.0F) + log_of_one_more(small) + 1e-5F;
  const float slope = __fdividef(raw >= 0.0F ? 1.0F : small, 1.0F + small);
  const float inverse = __fdividef(1.0F, deviation);
  const float z = (action - mean) * inverse;
  mean = -factor * z * inverse;
  raw = factor * (1.0F - z * z) * inverse * slope;
  return 0.5F * z * z + __logf(deviation) + kHalfLogTwoPi;
}

/// What four neighbouring threads, who share a row, say together.
__device__ __forceinline__ float sum_of_four(float x) {
  x += __shfl_xor_sync(~0U, x, 1);
  return x + __shfl_xor_sync(~0U, x, 2);
}
__device__ __forceinline__ float max_of_four(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0U, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0U, x, 2));
}

/// The outputs that this thread has of one row: two neighbours of every eight. The surprise is the
/// thread's part of the row's; `gradients` take the outputs' place.
template <int kOutputs, bool kDiscrete>
__device__ __forceinline__ float surprise_of_row(float (&outputs)[kOutputs / 4], const Shape& shape,
                                                 const unsigned char* action, int quarter,
                                                 float factor) {
  float surprise = 0.0F;
  if constexpr (kDiscrete) {
    const int taken = *reinterpret_cast<const std::int32_t*>(action);
    float most = -INFINITY;
#pragma unroll
    for (int i = 0; i < kOutputs / 4; ++i)
      if (8 * (i / 2) + 2 * quarter + i % 2 < shape.actions) most = fmaxf(most, outputs[i]);
    most = max_of_four(most);
    float sum = 0.0F, chosen = 0.0F;
#pragma unroll
    for (int i = 0; i < kOutputs / 4; ++i) {
      const int at = 8 * (i / 2) + 2 * quarter + i % 2;
      if (at == taken) chosen = outputs[i] - most;
      outputs[i] = at < shape.actions ? __expf(outputs[i] - most) : 0.0F;
      sum += outputs[i];
    }
    sum = sum_of_four(sum);
    const float inverse = __fdividef(1.0F, sum);
#pragma unroll
    for (int i = 0; i < kOutputs / 4; ++i) {
      const int at = 8 * (i / 2) + 2 * quarter + i % 2;
      outputs[i] = factor * (outputs[i] * inverse - (at == taken ? 1.0F : 0.0F));
    }
    surprise = (quarter == 0 ? __logf(sum) : 0.0F) - chosen;
  } else {
    const auto* wanted = reinterpret_cast<const float*>(action);
#pragma unroll
    for (int i = 0; i < kOutputs / 8; ++i) {
      const int number = 4 * i + quarter;
      if (number < shape.actions)
        surprise += gaussian_surprise(outputs[2 * i], outputs[2 * i + 1], wanted[number], factor);
      else
        outputs[2 * i] = outputs[2 * i + 1] = 0.0F;
    }
  }
  return surprise;
}

}  // namespace kindred::cuda
