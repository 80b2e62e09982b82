// The loops between matrix products, each compiled for several generations of processors.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace kindred {

/// Where steps lie side by side, a number of each after the other, there are so many.
inline constexpr std::int64_t kSideBySide = 64;

/// e^x to about 2e-7 of its value, without a branch: loops that call it vectorise. Saturates beyond
/// ±87.
inline float fast_exp(float x) {
  x = x < -87.0F ? -87.0F : x;
  x = x > 87.0F ? 87.0F : x;
  constexpr float kRound = 12582912.0F;  // 1.5 · 2^23: adding it rounds to whole numbers
  const float shifted = x * 1.44269504F + kRound;
  const float n = shifted - kRound;
  const float f = x - n * 0.693359375F + n * 2.12194440e-4F;  // x - n ln 2, in two parts
  float p = 1.9875691500e-4F;
  p = p * f + 1.3981999507e-3F;
  p = p * f + 8.3334519073e-3F;
  p = p * f + 4.1665795894e-2F;
  p = p * f + 1.6666665459e-1F;
  p = p * f + 5.0000001201e-1F;
  p = p * f * f + f + 1.0F;
  const auto exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  return p * std::bit_cast<float>((exponent + 127) << 23);
}

inline float sigmoid(float x) { return 1.0F / (1.0F + fast_exp(-x)); }
inline float fast_tanh(float x) { return 2.0F * sigmoid(2.0F * x) - 1.0F; }

/// log((1 + s) / (1 - s)) for |s| ≤ 1/3: the series of 2 artanh(s) up to where a float ends.
inline float log_of_ratio(float s) {
  const float q = s * s;
  float p = 1.0F / 13.0F;
  p = p * q + 1.0F / 11.0F;
  p = p * q + 1.0F / 9.0F;
  p = p * q + 1.0F / 7.0F;
  p = p * q + 1.0F / 5.0F;
  p = p * q + 1.0F / 3.0F;
  return 2.0F * (p * q * s + s);
}

/// log(1 + x) for x in [0, 1], right to the last bits also where x is small.
inline float log1p_of_share(float x) { return log_of_ratio(x / (2.0F + x)); }

/// log x of positive, finite, normal numbers.
inline float fast_log(float x) {
  // x = m · 2^n with m between √½ and √2.
  constexpr std::int32_t kRootHalf = 0x3F3504F3;
  const auto bits = std::bit_cast<std::int32_t>(x);
  const std::int32_t exponent = (bits - kRootHalf) >> 23;
  const float m = std::bit_cast<float>(bits - exponent * (1 << 23));
  const auto n = static_cast<float>(exponent);
  return n * 0.693359375F + (log_of_ratio((m - 1.0F) / (m + 1.0F)) - n * 2.12194440e-4F);
}

/// log(1 + e^x)
inline float softplus(float x) {
  const float positive = x > 0.0F ? x : 0.0F;
  return positive + log1p_of_share(fast_exp(x - 2.0F * positive));
}

/// √2 cos(πx), to 4e-10.
inline double root_two_cosine(double x) {
  constexpr double kRound = 6755399441055744.0;  // 1.5 · 2^52: adding it rounds to whole numbers
  const double shifted = x + kRound;
  const double rest = x - (shifted - kRound), z = rest * rest;  // rest within ±½
  // The polynomial in z whose largest error there is the least.
  double p = -0.03450216762863182;
  p = p * z + 0.3322518822509435;
  p = p * z - 1.8882749991955197;
  p = p * z + 5.739881545942477;
  p = p * z - 6.9788641100961515;
  p = p * z + 1.4142135620628913;
  // An odd number of half turns away the sign is the other one.
  const auto odd = std::bit_cast<std::uint64_t>(shifted) << 63U;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(p) ^ odd);
}

/// x = max(x, 0)
void relu(std::int64_t n, float* x);
/// Zeroes the gradient where the activation was cut off.
void mask_gradient(std::int64_t n, const float* activation, float* gradient);
/// x = tanh(x)
void tanh_rows(std::int64_t n, float* x);
/// Multiplies the gradient by the slope where tanh gave `activation`.
void tanh_gradient(std::int64_t n, const float* activation, float* gradient);
/// out[c] = Σ_r x[r, c], or += when `accumulate`.
void sum_rows(std::int64_t rows, std::int64_t columns, const float* x, float* out,
              bool accumulate = false);
/// Copies [rows, columns] as [columns, rows].
void transpose(std::int64_t rows, std::int64_t columns, const float* in, float* out);
/// to += scale · from
void add_scaled(std::int64_t n, float scale, const float* from, float* to);
/// to += from
void add(std::int64_t n, const float* from, float* to);
/// Each row of x becomes `row`.
void fill_rows(std::int64_t rows, std::int64_t columns, const float* row, float* x);
/// Σ x²
float squared_norm(std::int64_t n, const float* x);
/// x = log(share · e^x + other_share · e^other), but at least `floor`; shares as logarithms.
void mix_log_probs(std::int64_t n, float log_share, float log_other_share, const float* other,
                   float floor, float* x);
/// Rows [rows, stride] become log-probabilities over their first `columns` numbers.
void log_softmax(std::int64_t rows, std::int64_t columns, std::int64_t stride, float* x);
/// Of steps side by side, logits [columns, kSideBySide]: the log-probability of each one's choice.
void log_probs_of_choices(std::int64_t columns, const float* logits, const std::int32_t* choices,
                          float* out);

/// x = √2 cos(πx) for [rows, columns], rows `stride` apart.
void root_two_cosines(std::int64_t rows, std::int64_t columns, std::int64_t stride, double* x);
/// out = (in - mean) · scale, but no farther from 0 than `farthest`, for [rows, columns], rows of
/// each its own stride apart.
void standardise_rows(std::int64_t rows, std::int64_t columns, const float* in,
                      std::int64_t in_stride, const float* mean, const float* scale, float farthest,
                      double* out, std::int64_t out_stride);

}  // namespace kindred
