#include "kindred/nn/stacked_adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace kindred {

StackedAdam::StackedAdam(const std::vector<at::Tensor>& parameters, AdamOptions options)
    : options_(options), parameters_(parameters) {
  for (auto& parameter : parameters_) {
    parameter.set_requires_grad(true);
    first_.push_back(at::zeros_like(parameter.detach()));
    second_.push_back(at::zeros_like(parameter.detach()));
  }
}

StackedAdam::~StackedAdam() = default;

void StackedAdam::step(const at::Tensor& loss) {
  auto gradients = torch::autograd::grad({loss}, parameters_);
  const c10::NoGradGuard no_grad;
  ++steps_;

  at::Tensor squared_norm;  // [size]
  for (const auto& gradient : gradients) {
    const auto part = gradient.flatten(1).square().sum(1);
    squared_norm = squared_norm.defined() ? squared_norm + part : part;
  }
  const auto scale =
      (options_.max_gradient_norm / (squared_norm.sqrt() + 1e-6)).clamp_max(1.0).view({-1, 1, 1});

  const double correction1 = 1.0 - std::pow(options_.beta1, static_cast<double>(steps_));
  const double correction2 = 1.0 - std::pow(options_.beta2, static_cast<double>(steps_));
  const double rate = options_.learning_rate * std::sqrt(correction2) / correction1;
  const double epsilon = options_.epsilon * std::sqrt(correction2);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto gradient = gradients[i].mul_(scale);
    first_[i].mul_(options_.beta1).add_(gradient, 1.0 - options_.beta1);
    second_[i].mul_(options_.beta2).addcmul_(gradient, gradient, 1.0 - options_.beta2);
    parameters_[i].addcdiv_(first_[i], second_[i].sqrt().add_(epsilon), -rate);
  }
}

}  // namespace kindred
