#include "kindred/nn/device.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "kindred/core/error.h"

namespace kindred {

void require_device(const std::string& device) {
  if (device == "cpu") return;
  if (device != "cuda") throw InvalidArgument("device is 'cpu' or 'cuda', not '{}'", device);
  if (!at::hasCUDA())
    throw InvalidArgument(
        "device 'cuda' was asked for, but LibTorch here has no usable GPU; "
        "use --device cpu");
}

TorchOnOneThread::TorchOnOneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }

TorchOnOneThread::~TorchOnOneThread() { at::set_num_threads(before_); }

}  // namespace kindred
