// Adam over stacked parameters. Every policy of the stack is its own optimisation problem: the
// gradient norm is clipped per policy, never across the stack.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/nn/elementwise.h"

namespace at {
class Tensor;
}

namespace kindred {

/// Optimises `parameters`, each [size, …]. Marks them as requiring gradients.
class StackedAdam {
 public:
  StackedAdam(const std::vector<at::Tensor>& parameters, AdamOptions options);
  ~StackedAdam();
  StackedAdam(const StackedAdam&) = delete;
  StackedAdam& operator=(const StackedAdam&) = delete;

  /// Differentiates `loss` (a scalar: the sum of the policies' own losses) and updates.
  void step(const at::Tensor& loss);

 private:
  AdamOptions options_;
  std::int64_t steps_ = 0;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> first_;   // running mean of gradients
  std::vector<at::Tensor> second_;  // running mean of squared gradients
};

}  // namespace kindred
