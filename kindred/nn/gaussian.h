// Actions under the Gaussian that a network's two heads describe: a mean and a raw number for each
// number of an action, whose deviation is softplus(raw) + 1e-5.
//
// means, raws and their gradients: [rows, stride], of which the first `width` columns count;
// actions: [rows, width].
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "kindred/nn/elementwise.h"

namespace kindred {

inline const double kHalfLogTwoPi = 0.5 * std::log(2.0 * std::numbers::pi);

/// The standard deviation that a network's raw output stands for.
inline float deviation_of(float raw) { return softplus(raw) + 1e-5F; }

/// The log-density of each row's action: out [rows].
void gaussian_log_densities(std::int64_t rows, std::int64_t width, std::int64_t stride,
                            const float* means, const float* raws, const float* actions,
                            float* out);

/// The same of kSideBySide steps, side by side: means, raws and actions are [width, kSideBySide].
void gaussian_log_densities_of_columns(std::int64_t width, const float* means, const float* raws,
                                       const float* actions, float* out);

/// Sets the gradients of Σ factors · log density, factors [rows], in the columns that count;
/// returns that sum.
double gaussian_gradient(std::int64_t rows, std::int64_t width, std::int64_t stride,
                         const float* means, const float* raws, const float* actions,
                         const float* factors, float* d_means, float* d_raws);

}  // namespace kindred
