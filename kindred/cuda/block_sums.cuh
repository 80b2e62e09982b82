// What the threads of a block find together.
#pragma once

namespace kindred::cuda {

constexpr int kBlockThreads = 256, kBlockWarps = kBlockThreads / 32;

struct Largest {
  __device__ static float of(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
  __device__ static float of(float a, float b) { return a + b; }
};

/// What a block's numbers give together; every thread gets it, after all have come here. `shared`:
/// [kBlockWarps].
template <class Reduction>
__device__ float together(float x, float* shared) {
#pragma unroll
  for (int other = 16; other > 0; other /= 2) x = Reduction::of(x, __shfl_xor_sync(~0U, x, other));
  __syncthreads();  // what was there has been read
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
  __syncthreads();
  x = shared[0];
#pragma unroll
  for (int warp = 1; warp < kBlockWarps; ++warp) x = Reduction::of(x, shared[warp]);
  return x;
}

/// Adds what the threads of a column found: thread = lane · columns + column. The first lane's
/// threads get the sums. `shared`: [kBlockThreads].
inline __device__ float sum_of_lanes(float x, int columns, int lanes, float* shared) {
  const int thread = static_cast<int>(threadIdx.x);
  __syncthreads();
  shared[thread] = x;
  __syncthreads();
  if (thread >= columns) return 0.0F;
  float sum = 0.0F;
  for (int lane = 0; lane < lanes; ++lane) sum += shared[lane * columns + thread];
  return sum;
}

}  // namespace kindred::cuda
