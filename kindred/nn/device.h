// Where LibTorch can compute.
#pragma once

#include <string>

namespace kindred {

/// Throws InvalidArgument unless `device` is "cpu", or "cuda" and this machine has one.
void require_device(const std::string& device);

}  // namespace kindred
