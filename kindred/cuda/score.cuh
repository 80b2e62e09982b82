// Log-probabilities of steps under policies. A warp takes 32 steps through a network without
// leaving its registers; the weights lie in shared memory.
//
// Precision: products of halves, added up as floats: as precise as TF32, at twice its speed. Where
// numbers are too large for halves the result is no number, and whoever asked computes otherwise.
#pragma once

#include "kindred/cuda/heads.cuh"
#include "kindred/cuda/kernels.h"
#include "kindred/cuda/tensor_cores.cuh"

namespace kindred::cuda {

inline constexpr int kScoreThreads = 128;
inline constexpr int kScoreRows = 32;  // per warp and turn

template <int kTiles, int kHidden, int kOutputs>
struct ScoreMemory {
  static constexpr int kFirst = 0;
  static constexpr int kSecond = kFirst + 16 * kTiles * 2 * kHidden;
  static constexpr int kHeads = kSecond + kHidden * 2 * kHidden;
  static constexpr int kSecondBias = kHeads + kHidden * 2 * kOutputs;
  static constexpr int kHeadBias = kSecondBias + 4 * kHidden;
  static constexpr int kBytes = kHeadBias + 4 * kOutputs;
};

/// Of 16 inputs that a product takes at once, a thread has four; it loads them as neighbours. This
/// is the row of the first layer's weights that goes with an input.
template <int kTiles>
__device__ __forceinline__ int weight_row(int input) {
  const int quarter = input / (4 * kTiles), within = input % (4 * kTiles);
  return 16 * (within / 4) + 8 * (within / 2 % 2) + 2 * quarter + within % 2;
}

template <int kTiles, int kHidden, int kOutputs>
__device__ void load_weights(const float* image, unsigned char* memory) {
  using Memory = ScoreMemory<kTiles, kHidden, kOutputs>;
  const ImageLayout layout(16 * kTiles, kHidden, kOutputs);
  const auto put = [&](int at, float x) {
    *reinterpret_cast<__half*>(memory + at) = __float2half_rn(x);
  };
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < 16 * kTiles * kHidden; i += kScoreThreads)
    put(Memory::kFirst + Rows<kHidden>::number(weight_row<kTiles>(i / kHidden), i % kHidden),
        image[layout.first(i / kHidden, i % kHidden)]);
  for (int i = thread; i < kHidden * kHidden; i += kScoreThreads)
    put(Memory::kSecond + Rows<kHidden>::number(i / kHidden, i % kHidden),
        image[layout.second(i / kHidden, i % kHidden)]);
  for (int i = thread; i < kHidden * kOutputs; i += kScoreThreads)
    put(Memory::kHeads + Rows<kOutputs>::number(i / kOutputs, i % kOutputs),
        image[layout.head(i / kOutputs, i % kOutputs)]);
  auto* bias = reinterpret_cast<float*>(memory + Memory::kSecondBias);
  for (int i = thread; i < kHidden + kOutputs; i += kScoreThreads)
    bias[i] = image[layout.second_bias() + i];
}

/// What this thread has of the inputs of two rows, eight apart.
template <int kTiles>
struct InputWords {
  uint2 of_row[2][kTiles];

  template <class Layout>
  __device__ __forceinline__ void load(const unsigned char* steps, const Layout& layout,
                                       std::int64_t first, std::int64_t last, int quarter) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::int64_t row = min(first + 8 * half, last);
      const unsigned char* at = steps + row * layout.bytes() + 8 * kTiles * quarter;
#pragma unroll
      for (int k = 0; k < kTiles; ++k)
        of_row[half][k] = *reinterpret_cast<const uint2*>(at + 8 * k);
    }
  }

  __device__ __forceinline__ Four operand(int k) const {
    return {{of_row[0][k].x, of_row[1][k].x, of_row[0][k].y, of_row[1][k].y}};
  }
};

template <int kTiles, int kHidden, int kOutputs, bool kDiscrete>
__global__ void __launch_bounds__(kScoreThreads, 3)
    score_kernel(const __grid_constant__ Shape shape, const __grid_constant__ ScoreTask task) {
  using Memory = ScoreMemory<kTiles, kHidden, kOutputs>;
  constexpr StepLayout kStep(kTiles, kOutputs);
  constexpr int kInner = kHidden / 16;
  extern __shared__ __align__(1024) unsigned char memory[];
  const int policy = static_cast<int>(blockIdx.y);
  load_weights<kTiles, kHidden, kOutputs>(
      task.images +
          static_cast<std::int64_t>(policy) * ImageLayout(16 * kTiles, kHidden, kOutputs).size(),
      memory);
  __syncthreads();
  const std::uint32_t shared = shared_address(memory);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int quarter = lane % 4;
  const auto first = Operand<kHidden>::down_right(shared + Memory::kFirst, 0, lane);
  const auto second = Operand<kHidden>::down_right(shared + Memory::kSecond, 0, lane);
  const auto heads = Operand<kOutputs>::down_right(shared + Memory::kHeads, 0, lane);
  const auto* bias = reinterpret_cast<const float*>(memory + Memory::kSecondBias) + 2 * quarter;
  const auto* head_bias = reinterpret_cast<const float*>(memory + Memory::kHeadBias) + 2 * quarter;
  const std::int64_t last = task.count - 1;
  const std::int64_t stride =
      static_cast<std::int64_t>(gridDim.x) * (kScoreThreads / 32) * kScoreRows;
  std::int64_t begin =
      (static_cast<std::int64_t>(blockIdx.x) * (kScoreThreads / 32) + warp) * kScoreRows;
  InputWords<kTiles> words[2];
  for (int m = 0; m < 2; ++m)
    words[m].load(task.steps, kStep, begin + 16 * m + lane / 4, last, quarter);
  for (; begin < task.count; begin += stride) {
    Four inputs[2][kTiles];
#pragma unroll
    for (int m = 0; m < 2; ++m) {
#pragma unroll
      for (int k = 0; k < kTiles; ++k) inputs[m][k] = words[m].operand(k);
      words[m].load(task.steps, kStep, begin + stride + 16 * m + lane / 4, last, quarter);
    }
    Four below[2][kInner];
#pragma unroll
    for (int n = 0; n < kInner; ++n) {
      float sum[2][2][4] = {};
#pragma unroll
      for (int k = 0; k < kTiles; ++k) {
        const Four b = load_four_transposed(first.block(16 * k, 16 * n));
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          multiply_add_half(sum[m][0], inputs[m][k], b.x[0], b.x[1]);
          multiply_add_half(sum[m][1], inputs[m][k], b.x[2], b.x[3]);
        }
      }
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          below[m][n].x[i] =
              pack_half_relu(sum[m][i / 2][2 * (i % 2)], sum[m][i / 2][2 * (i % 2) + 1]);
    }
    float outputs[2][kOutputs / 8][4];
#pragma unroll
    for (int i = 0; i < kOutputs / 8; ++i) {
      const float2 b = *reinterpret_cast<const float2*>(head_bias + 8 * i);
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        outputs[m][i][0] = outputs[m][i][2] = b.x;
        outputs[m][i][1] = outputs[m][i][3] = b.y;
      }
    }
#pragma unroll
    for (int n = 0; n < kInner; ++n) {
      float sum[2][2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float2 b = *reinterpret_cast<const float2*>(bias + 16 * n + 8 * i);
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          sum[m][i][0] = sum[m][i][2] = b.x;
          sum[m][i][1] = sum[m][i][3] = b.y;
        }
      }
#pragma unroll
      for (int k = 0; k < kInner; ++k) {
        const Four b = load_four_transposed(second.block(16 * k, 16 * n));
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          multiply_add_half(sum[m][0], below[m][k], b.x[0], b.x[1]);
          multiply_add_half(sum[m][1], below[m][k], b.x[2], b.x[3]);
        }
      }
      Four above[2];
#pragma unroll
      for (int m = 0; m < 2; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          above[m].x[i] =
              pack_half_relu(sum[m][i / 2][2 * (i % 2)], sum[m][i / 2][2 * (i % 2) + 1]);
#pragma unroll
      for (int o = 0; o < kOutputs / 16; ++o) {
        const Four b = load_four_transposed(heads.block(16 * n, 16 * o));
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          multiply_add_half(outputs[m][2 * o], above[m], b.x[0], b.x[1]);
          multiply_add_half(outputs[m][2 * o + 1], above[m], b.x[2], b.x[3]);
        }
      }
    }
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::int64_t row = begin + 16 * m + 8 * half + lane / 4;
        float of_row[kOutputs / 4];
#pragma unroll
        for (int i = 0; i < kOutputs / 4; ++i) of_row[i] = outputs[m][i / 2][2 * half + i % 2];
        const float surprise = sum_of_four(surprise_of_row<kOutputs, kDiscrete>(
            of_row, shape, task.steps + min(row, last) * kStep.bytes() + kStep.action(), quarter,
            0.0F));
        if (quarter == 0 && row <= last) task.log_probs[policy * task.count + row] = -surprise;
      }
  }
}

}  // namespace kindred::cuda
