#include "kindred/cuda/cuda_internal.h"

#include "kindred/core/error.h"

namespace kindred::cuda {

void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error("the GPU failed: {} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
}

bool gpu_runs_kernels() {
  int devices = 0, device = 0, major = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 &&
         cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= 9;
}

}  // namespace kindred::cuda
