// A step of Adam over parameters in a GPU's memory: two launches, and nothing waits.
#pragma once

#include <memory>
#include <span>

#include "kindred/nn/adam.h"

namespace kindred::cuda {

class GpuAdam {
 public:
  virtual ~GpuAdam() = default;
  /// One step of one problem; what the pieces point to is in the GPU's memory.
  virtual void step(std::span<const AdamPiece> pieces, const AdamOptions& options) = 0;
};

/// nullptr where there is no GPU or Kindred was built without kernels.
std::unique_ptr<GpuAdam> make_gpu_adam();

}  // namespace kindred::cuda
