#include "kindred/nn/tensor_adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

namespace kindred {

/// Whatever is [numbers] holds every parameter's numbers one after the other.
struct TensorAdam::Tensors {
  std::int64_t problems;
  std::vector<at::Tensor> parameters;
  std::vector<std::int64_t> sizes;
  at::Tensor gradient, first, second;  // [numbers]
  std::vector<bool> touched;           // which parameters the loss depends on

  /// The parameters' parts of `flat`, each [problems, numbers per problem].
  std::vector<at::Tensor> parts(const at::Tensor& flat) const {
    auto result = flat.split_with_sizes(sizes);
    for (auto& part : result) part = part.view({problems, -1});
    return result;
  }

  /// What each problem's gradient is multiplied by to be no longer than `max_norm`, [problems, 1].
  at::Tensor shortening(const std::vector<at::Tensor>& gradients, double max_norm) const {
    at::Tensor squared_norm;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!touched[i]) continue;
      const auto part = gradients[i].square().sum(1, /*keepdim=*/true);
      squared_norm = squared_norm.defined() ? squared_norm + part : part;
    }
    return (max_norm / (squared_norm.sqrt() + 1e-6)).clamp_max(1.0);
  }
};

TensorAdam::TensorAdam(const std::vector<at::Tensor>& parameters, std::int64_t problems)
    : tensors_(std::make_unique<Tensors>()), steps_(parameters.size(), 0) {
  auto& t = *tensors_;
  t.problems = problems;
  t.parameters = parameters;
  std::int64_t numbers = 0;
  for (auto& parameter : t.parameters) {
    parameter.set_requires_grad(true);
    t.sizes.push_back(parameter.numel());
    numbers += parameter.numel();
  }
  t.first = at::zeros({numbers}, parameters.front().detach().options());
  t.second = at::zeros_like(t.first);
}

TensorAdam::~TensorAdam() = default;

void TensorAdam::differentiate(const at::Tensor& loss) {
  auto& t = *tensors_;
  auto gradients = torch::autograd::grad({loss}, t.parameters, {}, c10::nullopt, false, true);
  const c10::NoGradGuard no_grad;
  t.touched.clear();
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    t.touched.push_back(gradients[i].defined());
    if (!t.touched.back()) gradients[i] = at::zeros_like(t.parameters[i]);
    gradients[i] = gradients[i].reshape(-1);
  }
  t.gradient = at::cat(gradients);
}

at::Tensor& TensorAdam::gradient() { return tensors_->gradient; }

void TensorAdam::set_gradient(const at::Tensor& gradient) {
  tensors_->gradient = gradient;
  tensors_->touched.assign(tensors_->parameters.size(), true);
}

void TensorAdam::use(AdamKernel kernel) { kernel_ = std::move(kernel); }

void TensorAdam::update_by_kernel(const AdamOptions& options) {
  auto& t = *tensors_;
  std::vector<AdamPiece> pieces;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < t.parameters.size(); ++i) {
    const auto at = [&](const at::Tensor& flat) { return flat.data_ptr<float>() + begin; };
    if (t.touched[i])
      pieces.push_back({t.parameters[i].data_ptr<float>(), at(t.gradient), at(t.first),
                        at(t.second), t.sizes[i], adam_rates(options, ++steps_[i])});
    begin += t.sizes[i];
  }
  kernel_(pieces, options);
}

void TensorAdam::update(const AdamOptions& options) {
  const c10::NoGradGuard no_grad;
  auto& t = *tensors_;
  if (std::ranges::find(t.touched, true) == t.touched.end()) return;
  if (kernel_) return update_by_kernel(options);
  const auto gradients = t.parts(t.gradient);
  auto firsts = t.parts(t.first);
  auto seconds = t.parts(t.second);
  const auto scale = t.shortening(gradients, options.max_gradient_norm);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!t.touched[i]) continue;
    const auto [rate, epsilon] = adam_rates(options, ++steps_[i]);
    const auto gradient = gradients[i].mul(scale);
    firsts[i].mul_(options.beta1).add_(gradient, 1.0 - options.beta1);
    seconds[i].mul_(options.beta2).addcmul_(gradient, gradient, 1.0 - options.beta2);
    auto& parameter = t.parameters[i];
    parameter.addcdiv_(firsts[i].view_as(parameter),
                       seconds[i].sqrt().add_(epsilon).view_as(parameter), -rate);
  }
}

void TensorAdam::forget(std::size_t parameter) {
  steps_[parameter] = 0;
  for (auto& average : {tensors_->first, tensors_->second})
    tensors_->parts(average)[parameter].zero_();
}

AdamState TensorAdam::state() const {
  const auto numbers = [](const at::Tensor& tensor) {
    const auto host = tensor.cpu();
    return std::vector<float>(host.data_ptr<float>(), host.data_ptr<float>() + host.numel());
  };
  return {steps_, numbers(tensors_->first), numbers(tensors_->second)};
}

void TensorAdam::restore(const AdamState& saved) {
  require_like(saved, state());
  const auto take = [](const std::vector<float>& from, at::Tensor& to) {
    to.copy_(at::from_blob(const_cast<float*>(from.data()), to.sizes(), at::kFloat));
  };
  steps_ = saved.steps;
  take(saved.first, tensors_->first);
  take(saved.second, tensors_->second);
}

}  // namespace kindred
