#include "kindred/nn/gaussian.h"

#include <algorithm>
#include <vector>

#include "kindred/core/vectorise.h"

namespace kindred {
namespace {

// One loop over all numbers of all actions fills whole vectors, which a loop over the few numbers
// of one action does not.

constexpr std::int64_t kRowsAtOnce = 256;
// One logarithm for the product of so many deviations, which stays far from the ends of floats.
constexpr std::int64_t kDeviationsOfALog = 4;

/// out = -log density, less kHalfLogTwoPi.
KINDRED_VECTORISE
void surprises(std::int64_t n, const float* __restrict mean, const float* __restrict raw,
               const float* __restrict action, float* __restrict out) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float deviation = deviation_of(raw[i]);
    const float z = (action[i] - mean[i]) / deviation;
    out[i] = 0.5F * z * z + fast_log(deviation);
  }
}

/// The same of steps side by side, added up over columns: [width, kSideBySide] → [kSideBySide].
KINDRED_VECTORISE
void surprises_of_columns(std::int64_t width, const float* __restrict mean,
                          const float* __restrict raw, const float* __restrict action,
                          float* __restrict out) {
  float squares[kSideBySide] = {}, logs[kSideBySide] = {}, spread[kSideBySide];
  for (std::int64_t first = 0; first < width; first += kDeviationsOfALog) {
    const auto last = std::min(width, first + kDeviationsOfALog);
    for (float& x : spread) x = 1.0F;
    for (auto c = first; c < last; ++c)
      for (std::int64_t s = 0, i = c * kSideBySide; s < kSideBySide; ++s, ++i) {
        const float deviation = deviation_of(raw[i]);
        const float z = (action[i] - mean[i]) / deviation;
        squares[s] += z * z;
        spread[s] *= deviation;
      }
    for (std::int64_t s = 0; s < kSideBySide; ++s) logs[s] += fast_log(spread[s]);
  }
  for (std::int64_t s = 0; s < kSideBySide; ++s) out[s] = 0.5F * squares[s] + logs[s];
}

/// The same, and the log density's gradients in the places of mean and raw.
KINDRED_VECTORISE
void slopes(std::int64_t n, float* __restrict mean, float* __restrict raw,
            const float* __restrict action, float* __restrict surprise) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float share = fast_exp(raw[i] > 0.0F ? -raw[i] : raw[i]);  // e^-|raw|
    const float deviation = (raw[i] > 0.0F ? raw[i] : 0.0F) + log1p_of_share(share) + 1e-5F;
    const float by_raw = (raw[i] > 0.0F ? 1.0F : share) / (1.0F + share);
    const float inverse = 1.0F / deviation;
    const float z = (action[i] - mean[i]) * inverse;
    surprise[i] = 0.5F * z * z + fast_log(deviation);
    mean[i] = z * inverse;
    raw[i] = (z * z - 1.0F) * inverse * by_raw;
  }
}

/// The columns that count, one row after the other.
void take_columns(std::int64_t rows, std::int64_t width, std::int64_t stride, const float* from,
                  float* to) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < width; ++c) to[r * width + c] = from[r * stride + c];
}

}  // namespace

void gaussian_log_densities(std::int64_t rows, std::int64_t width, std::int64_t stride,
                            const float* means, const float* raws, const float* actions,
                            float* out) {
  const auto most = std::min(rows, kRowsAtOnce) * width;
  std::vector<float> numbers(static_cast<std::size_t>(3 * most));
  float *mean = numbers.data(), *raw = mean + most, *surprise = raw + most;
  for (std::int64_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    const auto n = std::min(kRowsAtOnce, rows - begin);
    take_columns(n, width, stride, means + begin * stride, mean);
    take_columns(n, width, stride, raws + begin * stride, raw);
    surprises(n * width, mean, raw, actions + begin * width, surprise);
    for (std::int64_t r = 0; r < n; ++r) {
      float sum = 0.0F;
      for (std::int64_t c = 0; c < width; ++c)
        sum -= surprise[r * width + c] + static_cast<float>(kHalfLogTwoPi);
      out[begin + r] = sum;
    }
  }
}

void gaussian_log_densities_of_columns(std::int64_t width, const float* means, const float* raws,
                                       const float* actions, float* out) {
  surprises_of_columns(width, means, raws, actions, out);
  const auto constant = static_cast<float>(static_cast<double>(width) * kHalfLogTwoPi);
  for (std::int64_t s = 0; s < kSideBySide; ++s) out[s] = -out[s] - constant;
}

double gaussian_gradient(std::int64_t rows, std::int64_t width, std::int64_t stride,
                         const float* means, const float* raws, const float* actions,
                         const float* factors, float* d_means, float* d_raws) {
  const auto most = std::min(rows, kRowsAtOnce) * width;
  std::vector<float> numbers(static_cast<std::size_t>(3 * most));
  float *mean = numbers.data(), *raw = mean + most, *surprise = raw + most;
  double total = 0.0;
  for (std::int64_t begin = 0; begin < rows; begin += kRowsAtOnce) {
    const auto n = std::min(kRowsAtOnce, rows - begin);
    take_columns(n, width, stride, means + begin * stride, mean);
    take_columns(n, width, stride, raws + begin * stride, raw);
    slopes(n * width, mean, raw, actions + begin * width, surprise);
    for (std::int64_t r = 0; r < n; ++r) {
      const float factor = factors[begin + r];
      float* d_mean = d_means + (begin + r) * stride;
      float* d_raw = d_raws + (begin + r) * stride;
      for (std::int64_t c = 0, i = r * width; c < width; ++c, ++i) {
        total -= static_cast<double>(factor) * (static_cast<double>(surprise[i]) + kHalfLogTwoPi);
        d_mean[c] = factor * mean[i];
        d_raw[c] = factor * raw[i];
      }
    }
  }
  return total;
}

}  // namespace kindred
