// Where networks can be computed.
#pragma once

#include <string>

#include "kindred/core/late_part.h"

namespace kindred {

/// Throws InvalidArgument unless `device` is "cpu", or "cuda" and this machine has one.
void require_device(const std::string& device);

/// Whether LibTorch finds a GPU it can use.
extern TorchFunction<bool()> has_cuda;

/// Computes something small on the device: the first time takes a GPU most of a second.
extern TorchFunction<void(const std::string& device)> wake_device;

}  // namespace kindred
