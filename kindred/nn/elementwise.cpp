#include "kindred/nn/elementwise.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/vectorise.h"

namespace kindred {

KINDRED_VECTORISE
void relu(std::int64_t n, float* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] > 0.0F ? x[i] : 0.0F;
}

KINDRED_VECTORISE
void mask_gradient(std::int64_t n, const float* activation, float* gradient) {
  for (std::int64_t i = 0; i < n; ++i) gradient[i] = activation[i] > 0.0F ? gradient[i] : 0.0F;
}

KINDRED_VECTORISE
void tanh_rows(std::int64_t n, float* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = fast_tanh(x[i]);
}

KINDRED_VECTORISE
void tanh_gradient(std::int64_t n, const float* activation, float* gradient) {
  for (std::int64_t i = 0; i < n; ++i) gradient[i] *= 1.0F - activation[i] * activation[i];
}

KINDRED_VECTORISE
void add_scaled(std::int64_t n, float scale, const float* from, float* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += scale * from[i];
}

KINDRED_VECTORISE
void sum_rows(std::int64_t rows, std::int64_t columns, const float* __restrict x,
              float* __restrict out, bool accumulate) {
  if (!accumulate) std::fill_n(out, columns, 0.0F);
  constexpr std::int64_t kTogether = 16;  // sums, in registers
  std::int64_t begin = 0;
  for (; begin + kTogether <= columns; begin += kTogether) {
    float sums[kTogether];
    std::copy_n(out + begin, kTogether, sums);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < kTogether; ++c) sums[c] += x[r * columns + begin + c];
    std::copy_n(sums, kTogether, out + begin);
  }
  for (std::int64_t r = 0; r < rows; ++r)
    for (auto c = begin; c < columns; ++c) out[c] += x[r * columns + c];
}

namespace {

/// Of [4, 4], rows so far apart.
void transpose_four(const float* in, std::int64_t in_stride, float* out, std::int64_t out_stride) {
  typedef float Four __attribute__((vector_size(16)));
  typedef float InMemory __attribute__((vector_size(16), aligned(4), may_alias));
  const auto row = [&](std::int64_t r) -> Four {
    return *reinterpret_cast<const InMemory*>(in + r * in_stride);
  };
  const Four low01 = __builtin_shufflevector(row(0), row(1), 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(row(0), row(1), 2, 6, 3, 7);
  const Four low23 = __builtin_shufflevector(row(2), row(3), 0, 4, 1, 5);
  const Four high23 = __builtin_shufflevector(row(2), row(3), 2, 6, 3, 7);
  const Four columns[] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                          __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                          __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                          __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (std::int64_t c = 0; c < 4; ++c)
    *reinterpret_cast<InMemory*>(out + c * out_stride) = columns[c];
}

}  // namespace

void transpose(std::int64_t rows, std::int64_t columns, const float* in, float* out) {
  // In blocks, so that the lines that are written stay in the cache until they are full.
  constexpr std::int64_t kBlock = 16;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kBlock)
    for (std::int64_t c0 = 0; c0 < columns; c0 += kBlock) {
      const auto r1 = std::min(r0 + kBlock, rows), c1 = std::min(c0 + kBlock, columns);
      if (r1 - r0 == kBlock && c1 - c0 == kBlock) {
        for (auto c = c0; c < c1; c += 4)
          for (auto r = r0; r < r1; r += 4)
            transpose_four(in + r * columns + c, columns, out + c * rows + r, rows);
      } else {
        for (auto c = c0; c < c1; ++c)
          for (auto r = r0; r < r1; ++r) out[c * rows + r] = in[r * columns + c];
      }
    }
}

KINDRED_VECTORISE
void add(std::int64_t n, const float* from, float* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

void fill_rows(std::int64_t rows, std::int64_t columns, const float* row, float* x) {
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(row, columns, x + r * columns);
}

KINDRED_VECTORISE
float squared_norm(std::int64_t n, const float* x) {
  // Sixteen running sums: the compiler may not reorder a single one.
  float sums[16] = {};
  std::int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int j = 0; j < 16; ++j) sums[j] += x[i + j] * x[i + j];
  float total = 0.0F;
  for (; i < n; ++i) total += x[i] * x[i];
  for (const float sum : sums) total += sum;
  return total;
}

KINDRED_VECTORISE
void mix_log_probs(std::int64_t n, float log_share, float log_other_share, const float* other,
                   float floor, float* x) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float a = log_share + x[i], b = log_other_share + other[i];
    const float more = a < b ? b : a;
    const float difference = a - b;  // not a number where both are impossible
    const float less = fast_exp(difference > 0.0F ? -difference : difference);
    const float sum = more + log1p_of_share(less > 0.0F ? less : 0.0F);
    x[i] = sum > floor ? sum : floor;
  }
}

void log_softmax(std::int64_t rows, std::int64_t columns, std::int64_t stride, float* x) {
  for (std::int64_t r = 0; r < rows; ++r, x += stride) {
    const float most = *std::max_element(x, x + columns);
    float total = 0.0F;
    for (std::int64_t c = 0; c < columns; ++c) total += std::exp(x[c] - most);
    const float shift = most + std::log(total);
    for (std::int64_t c = 0; c < columns; ++c) x[c] -= shift;
  }
}

KINDRED_VECTORISE
void log_probs_of_choices(std::int64_t columns, const float* __restrict logits,
                          const std::int32_t* __restrict choices, float* __restrict out) {
  float most[kSideBySide], sum[kSideBySide] = {};
  std::copy_n(logits, kSideBySide, most);
  for (std::int64_t c = 1; c < columns; ++c)
    for (std::int64_t s = 0; s < kSideBySide; ++s) {
      const float logit = logits[c * kSideBySide + s];
      most[s] = logit > most[s] ? logit : most[s];
    }
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t s = 0; s < kSideBySide; ++s)
      sum[s] += fast_exp(logits[c * kSideBySide + s] - most[s]);
  for (std::int64_t s = 0; s < kSideBySide; ++s)
    out[s] = logits[choices[s] * kSideBySide + s] - most[s] - fast_log(sum[s]);
}

KINDRED_VECTORISE
void root_two_cosines(std::int64_t rows, std::int64_t columns, std::int64_t stride, double* x) {
  for (std::int64_t r = 0; r < rows; ++r, x += stride)
    for (std::int64_t c = 0; c < columns; ++c) x[c] = root_two_cosine(x[c]);
}

KINDRED_VECTORISE
void standardise_rows(std::int64_t rows, std::int64_t columns, const float* __restrict in,
                      std::int64_t in_stride, const float* __restrict mean,
                      const float* __restrict scale, float farthest, double* __restrict out,
                      std::int64_t out_stride) {
  for (std::int64_t r = 0; r < rows; ++r, in += in_stride, out += out_stride)
    for (std::int64_t c = 0; c < columns; ++c) {
      float x = (in[c] - mean[c]) * scale[c];
      x = x < -farthest ? -farthest : x;
      out[c] = x > farthest ? farthest : x;
    }
}

}  // namespace kindred
