#include "kindred/nn/device.h"

#include "kindred/core/error.h"

namespace kindred {

constinit decltype(has_cuda) has_cuda;
constinit decltype(wake_device) wake_device;

void require_device(const std::string& device) {
  if (device == "cpu") return;
  if (device != "cuda") throw InvalidArgument("device is 'cpu' or 'cuda', not '{}'", device);
  if (!has_cuda())
    throw InvalidArgument(
        "device 'cuda' was asked for, but LibTorch here has no usable GPU; "
        "use --device cpu");
}

}  // namespace kindred
