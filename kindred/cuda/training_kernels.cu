#include <algorithm>
#include <cmath>

#include "kindred/cuda/block_sums.cuh"
#include "kindred/cuda/launch_kernel.cuh"
#include "kindred/cuda/training_kernels.h"

namespace kindred::cuda {
namespace {

__device__ float squared_distance(const float* a, const float* b, int count) {
  float sum = 0.0F;
#pragma unroll 8
  for (int j = 0; j < count; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/// One block: latent vectors and centroids are few.
__global__ void centroid_kernel(const __grid_constant__ CentroidTerms task) {
  __shared__ float shared[kBlockWarps];
  const int thread = static_cast<int>(threadIdx.x);
  const int batch = task.sequences.count, features = task.features, k = task.centroids;
  const float share = 1.0F / static_cast<float>(batch);
  float loss = 0.0F;
  for (int i = thread; i < batch; i += kBlockThreads) {
    const float* z = task.latents + i * features;
    int nearest = 0;
    float least = squared_distance(z, task.codes, features);
    for (int c = 1; c < k; ++c) {
      const float distance = squared_distance(z, task.codes + c * features, features);
      if (distance < least) {
        least = distance;
        nearest = c;
      }
    }
    task.nearest[i] = nearest;
    const int length = task.sequences.begins[i + 1] - task.sequences.begins[i];
    const float weight = task.mean_over_steps ? share / static_cast<float>(length) : share;
    task.d_sums[i] = -weight;
    loss += task.alpha * share * least - weight * task.sums[i];
  }
  const float per_pair = task.lambda / static_cast<float>(k * k);
  for (int i = thread; i < k * k; i += kBlockThreads)
    loss -= per_pair * fminf(1.0F, squared_distance(task.codes + i / k * features,
                                                    task.codes + i % k * features, features));
  loss = together<Sum>(loss, shared);  // and everybody's nearest ones are known
  if (thread == 0) task.loss[0] = loss;

  const float pull = 2.0F * task.alpha * share;
  for (int i = thread; i < batch * features; i += kBlockThreads)
    task.d_latents[i] =
        pull * (task.latents[i] - task.codes[task.nearest[i / features] * features + i % features]);
  for (int i = thread; i < k * features; i += kBlockThreads) {
    const int code = i / features, feature = i % features;
    float sum = 0.0F;
#pragma unroll 8
    for (int b = 0; b < batch; ++b)
      if (task.nearest[b] == code)
        sum += pull * (task.codes[i] - task.latents[b * features + feature]);
    for (int other = 0; other < k; ++other)
      if (squared_distance(task.codes + code * features, task.codes + other * features, features) <=
          1.0F)
        sum -= 4.0F * per_pair * (task.codes[i] - task.codes[other * features + feature]);
    task.d_codes[i] = sum;
  }
}

__global__ void squares_kernel(const __grid_constant__ AdamTask task) {
  __shared__ float shared[kBlockWarps];
  const auto& piece = task.pieces[blockIdx.y];
  float sum = 0.0F;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; i < piece.numbers;
       i += kNormBlocks * kBlockThreads)
    sum += piece.gradient[i] * piece.gradient[i];
  sum = together<Sum>(sum, shared);
  if (threadIdx.x == 0) task.squares[blockIdx.y * kNormBlocks + blockIdx.x] = sum;
}

__global__ void adam_kernel(const __grid_constant__ AdamTask task) {
  __shared__ float shared[kBlockWarps];
  float scale = 1.0F;
  if (isfinite(task.max_norm)) {
    float sum = 0.0F;
    for (int i = static_cast<int>(threadIdx.x); i < task.count * kNormBlocks; i += kBlockThreads)
      sum += task.squares[i];
    sum = together<Sum>(sum, shared);
    scale = fminf(1.0F, task.max_norm / (sqrtf(sum) + 1e-6F));
  }
  const auto& piece = task.pieces[blockIdx.y];
  const std::int64_t i = std::int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (i >= piece.numbers) return;
  const float gradient = scale * piece.gradient[i];
  const float first = task.beta1 * piece.first[i] + (1.0F - task.beta1) * gradient;
  const float second = task.beta2 * piece.second[i] + (1.0F - task.beta2) * gradient * gradient;
  piece.first[i] = first;
  piece.second[i] = second;
  piece.parameter[i] -= piece.rate * first / (sqrtf(second) + piece.epsilon);
}

}  // namespace

void find_centroid_terms(const CentroidTerms& task) {
  launch(centroid_kernel, dim3(1), kBlockThreads, task);
}

void take_step(const AdamTask& task) {
  std::int64_t most = 1;
  for (int i = 0; i < task.count; ++i) most = std::max(most, task.pieces[i].numbers);
  const auto pieces = static_cast<unsigned>(task.count);
  if (std::isfinite(task.max_norm))
    launch(squares_kernel, dim3(kNormBlocks, pieces), kBlockThreads, task);
  launch(adam_kernel,
         dim3(static_cast<unsigned>((most + kBlockThreads - 1) / kBlockThreads), pieces),
         kBlockThreads, task);
}

}  // namespace kindred::cuda
