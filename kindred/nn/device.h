// Where LibTorch can compute, and on how many threads.
#pragma once

#include <string>

namespace kindred {

/// Throws InvalidArgument unless `device` is "cpu", or "cuda" and this machine has one.
void require_device(const std::string& device);

/// Keeps LibTorch's operations on the thread that calls them as long as this lives, which is on one
/// thread: where kernels of our own do the work, its threads would only fight with ours for cores.
class TorchOnOneThread {
 public:
  TorchOnOneThread();
  ~TorchOnOneThread();
  TorchOnOneThread(const TorchOnOneThread&) = delete;
  TorchOnOneThread& operator=(const TorchOnOneThread&) = delete;

 private:
  int before_;
};

}  // namespace kindred
