// Where and with how many threads LibTorch computes.
#pragma once

#include <string>

namespace kindred {

/// Throws InvalidArgument unless `device` is "cpu", or "cuda" and this machine has one.
void require_device(const std::string& device);

/// Sets the number of threads of LibTorch and of the BLAS below it, for the whole process.
void use_threads(int threads);

}  // namespace kindred
