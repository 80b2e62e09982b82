// Adam over a few tensors that form one optimisation problem (StackedAdam: many independent ones).
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/nn/stacked_adam.h"

namespace kindred {

class Adam {
 public:
  /// Marks `parameters` as requiring gradients. max_gradient_norm is that of all together.
  Adam(const std::vector<at::Tensor>& parameters, AdamOptions options);
  ~Adam();
  Adam(const Adam&) = delete;
  Adam& operator=(const Adam&) = delete;

  /// Differentiates `loss` (a scalar) and updates; the learning rate is scaled by `rate`.
  void step(const at::Tensor& loss, double rate = 1.0);
  /// Forgets what was averaged for one parameter, after it was set by hand. Steps are counted for
  /// all parameters together, so its next updates are up to about three times the usual size.
  void forget(std::size_t parameter);

  /// Everything but the parameters: steps taken, then first and second averages of each.
  std::int64_t steps() const { return steps_; }
  const std::vector<at::Tensor>& first() const { return first_; }
  const std::vector<at::Tensor>& second() const { return second_; }
  void restore(std::int64_t steps) { steps_ = steps; }

 private:
  AdamOptions options_;
  std::int64_t steps_ = 0;
  std::vector<at::Tensor> parameters_, first_, second_;
};

}  // namespace kindred
