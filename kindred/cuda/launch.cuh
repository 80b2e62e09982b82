// How a shape's kernels are launched, and over how many thread blocks.
#pragma once

#include <algorithm>
#include <cmath>

#include "kindred/cuda/cuda_internal.h"
#include "kindred/cuda/score.cuh"
#include "kindred/cuda/train.cuh"

namespace kindred::cuda {

/// A launch over `policies` clusters of `blocks` thread blocks.
struct ClusterLaunch {
  cudaLaunchAttribute cluster{};
  cudaLaunchConfig_t config{};

  ClusterLaunch(int policies, int blocks, int bytes) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3(static_cast<unsigned>(policies * blocks));
    config.blockDim = dim3(kTrainThreads);
    config.dynamicSmemBytes = static_cast<std::size_t>(bytes);
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
};

/// Blocks per policy: as many as shorten training, by what was measured on an H200 in units of a
/// full pass. Clusters beyond those that run at once wait for their turn.
template <class Kernel>
int best_blocks(Kernel kernel, int policies, int batch, int bytes) {
  int best = 1;
  double best_time = INFINITY;
  for (int blocks = 1; blocks <= kMostBlocks && (blocks == 1 || batch / blocks >= 16);
       blocks *= 2) {
    const ClusterLaunch launch(policies, blocks, bytes);
    int together = 0;
    if (cudaOccupancyMaxActiveClusters(&together, kernel, &launch.config) != cudaSuccess ||
        together == 0) {
      cudaGetLastError();  // a GPU may not have room for so large a cluster
      continue;
    }
    const int turns = (policies + together - 1) / together;
    const int rows = (batch + blocks - 1) / blocks;
    const double passes = rows > kPassRows / 2 ? (rows + kPassRows - 1) / kPassRows : 0.7;
    const double adding_up = 0.6 + 0.03 * blocks;
    const double time = turns * (passes + adding_up);
    if (time < best_time) {
      best_time = time;
      best = blocks;
    }
  }
  return best;
}

template <class Kernel>
void launch_training(Kernel kernel, Kernel once, int bytes, const Shape& shape,
                     const TrainTask& task) {
  for (const Kernel each : {kernel, once}) {
    check(cudaFuncSetAttribute(each, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    check(cudaFuncSetAttribute(each, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  const int blocks = best_blocks(kernel, task.policies, task.settings.batch, bytes);
  const bool in_one_pass = (task.settings.batch + blocks - 1) / blocks <= kPassRows;
  const ClusterLaunch launch(task.policies, blocks, bytes);
  check(cudaLaunchKernelEx(&launch.config, in_one_pass ? once : kernel, shape, task));
}

template <int kTiles, int kHidden, int kOutputs, bool kDiscrete>
void train_with(const Shape& shape, const TrainTask& task) {
  launch_training(&train_kernel<kTiles, kHidden, kOutputs, kDiscrete, false>,
                  &train_kernel<kTiles, kHidden, kOutputs, kDiscrete, true>,
                  TrainMemory<kTiles, kHidden, kOutputs>::kBytes, shape, task);
}

template <int kTiles, int kHidden, int kOutputs, bool kDiscrete>
void score_with(const Shape& shape, const ScoreTask& task) {
  const auto kernel = &score_kernel<kTiles, kHidden, kOutputs, kDiscrete>;
  constexpr int kBytes = ScoreMemory<kTiles, kHidden, kOutputs>::kBytes;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes));
  int device = 0, processors = 0, blocks = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kScoreThreads, kBytes));
  // Every policy's blocks go over the data side by side, so that it comes out of the cache.
  const std::int64_t rows = kScoreThreads / 32 * kScoreRows;
  const std::int64_t most = (task.count + rows - 1) / rows;
  const std::int64_t fair = std::max(1, blocks * processors / task.policies);
  const dim3 grid(static_cast<unsigned>(std::min(most, fair)),
                  static_cast<unsigned>(task.policies));
  kernel<<<grid, kScoreThreads, kBytes>>>(shape, task);
  check(cudaGetLastError());
}

}  // namespace kindred::cuda
