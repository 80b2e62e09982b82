// On how many threads LibTorch computes.
#pragma once

namespace kindred {

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
