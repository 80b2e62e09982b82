#include "kindred/cuda/cuda_internal.h"

#include "kindred/core/error.h"

namespace kindred::cuda {

void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error("the GPU failed: {} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
}

}  // namespace kindred::cuda
