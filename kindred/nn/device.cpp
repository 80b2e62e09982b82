#include "kindred/nn/device.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "kindred/core/error.h"

// OpenBLAS keeps threads of its own that LibTorch does not know of; absent with another BLAS.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace kindred {

void require_device(const std::string& device) {
  if (device == "cpu") return;
  if (device != "cuda") throw InvalidArgument("device is 'cpu' or 'cuda', not '{}'", device);
  if (!at::hasCUDA())
    throw InvalidArgument("device 'cuda' was asked for, but LibTorch here has no usable GPU; "
                          "use --device cpu");
}

void use_threads(int threads) {
  at::set_num_threads(threads);
  if (openblas_set_num_threads) openblas_set_num_threads(threads);
}

}  // namespace kindred
