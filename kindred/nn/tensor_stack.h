// The policies of a PolicyStack as LibTorch's tensors on any device: a layer of all policies is one
// batched product.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/nn/policy_stack.h"

namespace at {
class Tensor;
}
namespace c10 {
struct Device;
}

namespace kindred {

class TensorStack {
 public:
  TensorStack(const PolicyStack& stack, const c10::Device& device);
  ~TensorStack();
  TensorStack(const TensorStack&) = delete;
  TensorStack& operator=(const TensorStack&) = delete;

  /// Writes the parameters back into a stack of the same shape.
  void store(PolicyStack& stack) const;

  std::int64_t size() const { return size_; }
  /// Each [size, …], in the order of PolicyStack::parameters().
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  /// Log-probabilities of all actions, discrete only.
  /// inputs: [batch, inputs] seen by every policy, or [size, batch, inputs] → [size, batch,
  /// actions].
  at::Tensor all_log_probs(const at::Tensor& inputs) const;

  /// Log-probability (density) of the given actions → [size, batch].
  /// inputs as above; actions: [batch] or [size, batch] int64, or [.., batch, actions] float.
  at::Tensor log_probs(const at::Tensor& inputs, const at::Tensor& actions) const;

 private:
  at::Tensor features(const at::Tensor& inputs) const;
  at::Tensor linear(const at::Tensor& inputs, std::size_t layer) const;

  PolicyArchitecture architecture_;
  std::int64_t size_;
  std::vector<at::Tensor> parameters_;
};

}  // namespace kindred
