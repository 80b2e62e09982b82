#include "kindred/nn/policy_stack.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "kindred/core/error.h"
#include "kindred/nn/layers.h"

namespace kindred {
namespace {

/// (fan_in, fan_out) of each linear layer: hidden layers, then one head, or two when continuous.
std::vector<std::pair<std::int64_t, std::int64_t>> layer_shapes(const PolicyArchitecture& a) {
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes;
  std::int64_t width = a.inputs;
  for (const auto hidden : a.hidden) {
    shapes.emplace_back(width, hidden);
    width = hidden;
  }
  shapes.emplace_back(width, a.actions);
  if (!a.discrete) shapes.emplace_back(width, a.actions);
  return shapes;
}

at::Tensor as_index(std::span<const std::int64_t> indices, const at::Device& device) {
  return at::tensor(c10::ArrayRef<std::int64_t>(indices.data(), indices.size()), at::kLong)
      .to(device);
}

}  // namespace

PolicyStack::PolicyStack(PolicyArchitecture architecture, std::int64_t size)
    : architecture_(std::move(architecture)), size_(size) {
  for (const auto& [fan_in, fan_out] : layer_shapes(architecture_)) {
    parameters_.push_back(at::zeros({size_, fan_in, fan_out}));
    parameters_.push_back(at::zeros({size_, 1, fan_out}));
  }
}

PolicyStack::~PolicyStack() = default;
PolicyStack::PolicyStack(PolicyStack&&) noexcept = default;
PolicyStack& PolicyStack::operator=(PolicyStack&&) noexcept = default;

void PolicyStack::initialise(std::int64_t index, Random random) {
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto fan_in = parameters_[i - i % 2].size(1);  // a bias shares its weight's fan-in
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
    auto values = at::empty_like(parameters_[i][index], at::kCPU);
    auto* out = values.data_ptr<float>();
    for (std::int64_t j = 0; j < values.numel(); ++j)
      out[j] = static_cast<float>(random.uniform(-bound, bound));
    parameters_[i][index].copy_(values);
  }
}

at::Tensor PolicyStack::linear(const at::Tensor& inputs, std::size_t layer) const {
  const auto& weight = parameters_[2 * layer];
  const auto& bias = parameters_[2 * layer + 1];
  if (inputs.dim() == 2) return at::matmul(inputs, weight) + bias;
  return at::baddbmm(bias, inputs, weight);
}

at::Tensor PolicyStack::features(const at::Tensor& inputs) const {
  at::Tensor x = inputs;
  for (std::size_t layer = 0; layer < architecture_.hidden.size(); ++layer)
    x = linear(x, layer).relu_();
  return x;
}

at::Tensor PolicyStack::all_log_probs(const at::Tensor& inputs) const {
  return at::log_softmax(linear(features(inputs), architecture_.hidden.size()), -1);
}

at::Tensor PolicyStack::log_probs(const at::Tensor& inputs, const at::Tensor& actions) const {
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

PolicyStack PolicyStack::select(std::span<const std::int64_t> indices) const {
  const c10::NoGradGuard no_grad;
  PolicyStack result(architecture_, static_cast<std::int64_t>(indices.size()));
  const auto index = as_index(indices, parameters_[0].device());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    result.parameters_[i] = parameters_[i].detach().index_select(0, index);
  return result;
}

void PolicyStack::assign(std::span<const std::int64_t> indices, const PolicyStack& source) {
  if (!(source.architecture_ == architecture_) ||
      source.size_ != static_cast<std::int64_t>(indices.size()))
    throw InvalidArgument("cannot assign a stack of another shape");
  const c10::NoGradGuard no_grad;
  const auto index = as_index(indices, parameters_[0].device());
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_[i].index_copy_(0, index,
                               source.parameters_[i].detach().to(parameters_[i].device()));
}

void PolicyStack::to(const at::Device& device) {
  for (auto& parameter : parameters_) parameter = parameter.detach().to(device);
}

}  // namespace kindred
