// S independent policies of one architecture, evaluated and trained together: every parameter is
// one tensor with a leading dimension S, so a layer of all policies is one batched product.
//
// Discrete actions: a categorical distribution. Continuous: a diagonal Gaussian whose standard
// deviation is softplus(.) + 1e-5 of a layer of its own. Hidden layers are ReLU.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kindred/core/random.h"

namespace at {
class Tensor;
}
namespace c10 {
struct Device;
}

namespace kindred {

/// What one policy of a stack looks like.
struct PolicyArchitecture {
  std::int64_t inputs = 0;
  bool discrete = true;
  std::int64_t actions = 0;  ///< Number of actions, or numbers per action when continuous.
  std::vector<std::int64_t> hidden = {128, 128};

  bool operator==(const PolicyArchitecture&) const = default;
};

class PolicyStack {
 public:
  /// All parameters zero, on the CPU.
  PolicyStack(PolicyArchitecture architecture, std::int64_t size);
  ~PolicyStack();
  PolicyStack(const PolicyStack&) = delete;
  PolicyStack& operator=(const PolicyStack&) = delete;
  PolicyStack(PolicyStack&&) noexcept;
  PolicyStack& operator=(PolicyStack&&) noexcept;

  /// Draws policy `index` anew: weights and biases uniform in ±1/sqrt(fan_in).
  void initialise(std::int64_t index, Random random);

  const PolicyArchitecture& architecture() const { return architecture_; }
  std::int64_t size() const { return size_; }
  /// Each [size, …]: weight and bias of every hidden layer, then of the head(s).
  const std::vector<at::Tensor>& parameters() const { return parameters_; }

  /// Log-probabilities of all actions, discrete only.
  /// inputs: [batch, inputs] seen by every policy, or [size, batch, inputs] → [size, batch,
  /// actions].
  at::Tensor all_log_probs(const at::Tensor& inputs) const;

  /// Log-probability (density) of the given actions → [size, batch].
  /// inputs as above; actions: [batch] or [size, batch] int64, or [.., batch, actions] float.
  at::Tensor log_probs(const at::Tensor& inputs, const at::Tensor& actions) const;

  /// A copy of the policies at `indices`, in that order.
  PolicyStack select(std::span<const std::int64_t> indices) const;
  /// Overwrites policies `indices[i]` by `source`'s policy i.
  void assign(std::span<const std::int64_t> indices, const PolicyStack& source);
  /// Moves every parameter to a device.
  void to(const c10::Device& device);

 private:
  at::Tensor features(const at::Tensor& inputs) const;
  at::Tensor linear(const at::Tensor& inputs, std::size_t layer) const;

  PolicyArchitecture architecture_;
  std::int64_t size_ = 0;
  std::vector<at::Tensor> parameters_;
};

}  // namespace kindred
