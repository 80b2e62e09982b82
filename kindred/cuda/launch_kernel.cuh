// How kernels are put into streams.
#pragma once

#include "kindred/cuda/cuda_internal.h"

namespace kindred::cuda {

/// Throws Error where the launch fails; what fails later is thrown by whoever waits.
template <class... Parameters, class... Arguments>
void launch_in(cudaStream_t stream, void (*kernel)(Parameters...), dim3 blocks, int threads,
               Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.stream = stream;
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

/// In the default stream.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 blocks, int threads, Arguments&&... arguments) {
  launch_in(nullptr, kernel, blocks, threads, std::forward<Arguments>(arguments)...);
}

}  // namespace kindred::cuda
