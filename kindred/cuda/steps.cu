// Steps as kernels read them, lists of steps, and what steps say of whole episodes.
#include "kindred/cuda/cuda_internal.h"
#include "kindred/cuda/kernels.h"
#include "kindred/cuda/tensor_cores.cuh"

namespace kindred::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void write_steps_kernel(Shape shape, std::int64_t steps, const float* inputs,
                                   const std::int64_t* row_of_step, const void* actions,
                                   unsigned char* out) {
  const StepLayout layout(shape.input_tiles, shape.outputs);
  const int words = layout.bytes() / 4;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= steps * words) return;
  const std::int64_t step = i / words;
  const int at = 4 * static_cast<int>(i % words);
  const float* row = inputs + (row_of_step ? row_of_step[step] : step) * shape.inputs;
  const auto input = [&](int column) {
    return column < shape.inputs ? row[column] : column == shape.inputs ? 1.0F : 0.0F;
  };
  std::uint32_t word = 0;
  if (at < layout.action()) {
    const int column = at % layout.bfloats() / 2;
    const float low = input(column), high = input(column + 1);
    word = at < layout.bfloats() ? pack_half(low, high) : pack(low, high);
  } else {
    const int number = (at - layout.action()) / 4;
    if (shape.discrete) {
      if (number == 0)
        word = static_cast<std::uint32_t>(static_cast<const std::int64_t*>(actions)[step]);
    } else if (number < shape.actions) {
      word = __float_as_uint(static_cast<const float*>(actions)[step * shape.actions + number]);
    }
  }
  *reinterpret_cast<std::uint32_t*>(out + step * layout.bytes() + at) = word;
}

template <bool kWrite>
__global__ void place_kernel(float* parameter, const std::int32_t* places, int numbers,
                             int policies, int image, float* images) {
  const int i = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (i >= numbers * policies) return;
  float& placed = images[static_cast<std::int64_t>(i / numbers) * image + places[i % numbers]];
  if constexpr (kWrite)
    placed = parameter[i];
  else
    parameter[i] = placed;
}

__global__ void write_pool_kernel(const Stretch* stretches, std::int32_t* pool) {
  const Stretch stretch = stretches[blockIdx.x];
  for (int i = static_cast<int>(threadIdx.x); i < stretch.length; i += kThreads)
    pool[stretch.at + i] = stretch.begin + i;
}

/// A warp adds up one episode under one policy, always in the same order.
__global__ void sum_kernel(const __grid_constant__ SumTask task) {
  const std::int64_t warp = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (warp >= task.episodes * task.policies) return;
  const std::int64_t episode = warp % task.episodes, policy = warp / task.episodes;
  double sum = 0.0;
  for (auto t = task.offsets[episode] + threadIdx.x % 32; t < task.offsets[episode + 1]; t += 32) {
    float x = task.log_probs[policy * task.count + t];
    if (task.common) {
      const float own = x + task.own_share, common = task.common[t] + task.common_share;
      x = fmaxf(own, common) + log1pf(expf(-fabsf(own - common)));
    }
    sum += static_cast<double>(x < task.floor ? task.floor : x);  // what is no number stays so
  }
#pragma unroll
  for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(~0U, sum, other);
  if (threadIdx.x % 32 == 0) task.sums[episode * task.policies + policy] = sum;
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace

void write_steps(const Shape& shape, std::int64_t steps, const float* inputs,
                 const std::int64_t* row_of_step, const void* actions, unsigned char* out) {
  const int words = StepLayout(shape.input_tiles, shape.outputs).bytes() / 4;
  write_steps_kernel<<<blocks_for(steps * words), kThreads>>>(shape, steps, inputs, row_of_step,
                                                              actions, out);
  check(cudaGetLastError());
}

void write_images(const float* parameter, const std::int32_t* places, int numbers, int policies,
                  int image, float* images) {
  place_kernel<true><<<blocks_for(std::int64_t{numbers} * policies), kThreads>>>(
      const_cast<float*>(parameter), places, numbers, policies, image, images);
  check(cudaGetLastError());
}

void read_images(const float* images, const std::int32_t* places, int numbers, int policies,
                 int image, float* parameter) {
  place_kernel<false><<<blocks_for(std::int64_t{numbers} * policies), kThreads>>>(
      parameter, places, numbers, policies, image, const_cast<float*>(images));
  check(cudaGetLastError());
}

void write_pool(const Stretch* stretches, int count, std::int32_t* pool) {
  write_pool_kernel<<<static_cast<unsigned>(count), kThreads>>>(stretches, pool);
  check(cudaGetLastError());
}

void sum_episodes(const SumTask& task) {
  sum_kernel<<<blocks_for(32 * task.episodes * task.policies), kThreads>>>(task);
  check(cudaGetLastError());
}

}  // namespace kindred::cuda
