#include "kindred/nn/tensor_stack.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kindred/nn/gaussian.h"

namespace kindred {

TensorStack::TensorStack(const PolicyStack& stack, const c10::Device& device)
    : architecture_(stack.architecture()), size_(stack.size()) {
  for (const auto& parameter : stack.parameters()) {
    auto tensor = at::empty({size_, parameter.rows, parameter.columns}, at::kFloat);
    std::ranges::copy(parameter.values, tensor.data_ptr<float>());
    parameters_.push_back(tensor.to(device));
  }
}

TensorStack::~TensorStack() = default;

void TensorStack::store(PolicyStack& stack) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto tensor = parameters_[i].detach().cpu().contiguous();
    std::copy_n(tensor.data_ptr<float>(), tensor.numel(), stack.parameters()[i].values.begin());
  }
}

at::Tensor TensorStack::linear(const at::Tensor& inputs, std::size_t layer) const {
  const auto& weight = parameters_[2 * layer];
  const auto& bias = parameters_[2 * layer + 1];
  if (inputs.dim() == 2) return at::matmul(inputs, weight) + bias;
  return at::baddbmm(bias, inputs, weight);
}

at::Tensor TensorStack::features(const at::Tensor& inputs) const {
  at::Tensor x = inputs;
  for (std::size_t layer = 0; layer < architecture_.hidden.size(); ++layer)
    x = linear(x, layer).relu_();
  return x;
}

at::Tensor TensorStack::all_log_probs(const at::Tensor& inputs) const {
  return at::log_softmax(linear(features(inputs), architecture_.hidden.size()), -1);
}

at::Tensor TensorStack::log_probs(const at::Tensor& inputs, const at::Tensor& actions) const {
  const auto head = architecture_.hidden.size();
  if (architecture_.discrete) {
    const auto all = all_log_probs(inputs);
    const auto index = actions.unsqueeze(-1).expand({size_, all.size(1), 1});
    return all.gather(2, index).squeeze(2);
  }
  const auto x = features(inputs);
  const auto mean = linear(x, head);
  const auto deviation = at::softplus(linear(x, head + 1)) + 1e-5;
  const auto scaled = (actions - mean) / deviation;
  return -(0.5 * scaled * scaled + deviation.log()).sum(-1) -
         kHalfLogTwoPi * static_cast<double>(architecture_.actions);
}

}  // namespace kindred
