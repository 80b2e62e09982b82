#include "kindred/nn/adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace kindred {

Adam::Adam(const std::vector<at::Tensor>& parameters, AdamOptions options)
    : options_(options), parameters_(parameters) {
  for (auto& parameter : parameters_) {
    parameter.set_requires_grad(true);
    first_.push_back(at::zeros_like(parameter.detach()));
    second_.push_back(at::zeros_like(parameter.detach()));
  }
}

Adam::~Adam() = default;

void Adam::forget(std::size_t parameter) {
  first_[parameter].zero_();
  second_[parameter].zero_();
}

void Adam::step(const at::Tensor& loss, double rate) {
  // A parameter the loss does not touch (a decoder in an encoder-only phase) stays as it is.
  auto gradients = torch::autograd::grad({loss}, parameters_, {}, c10::nullopt, false, true);
  const c10::NoGradGuard no_grad;
  ++steps_;
  at::Tensor squared_norm;
  for (const auto& gradient : gradients) {
    if (!gradient.defined()) continue;
    const auto part = gradient.square().sum();
    squared_norm = squared_norm.defined() ? squared_norm + part : part;
  }
  if (!squared_norm.defined()) return;
  const auto scale = (options_.max_gradient_norm / (squared_norm.sqrt() + 1e-6)).clamp_max(1.0);
  const double correction1 = 1.0 - std::pow(options_.beta1, static_cast<double>(steps_));
  const double correction2 = 1.0 - std::pow(options_.beta2, static_cast<double>(steps_));
  const double step = rate * options_.learning_rate * std::sqrt(correction2) / correction1;
  const double epsilon = options_.epsilon * std::sqrt(correction2);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const auto gradient = gradients[i].mul(scale);
    first_[i].mul_(options_.beta1).add_(gradient, 1.0 - options_.beta1);
    second_[i].mul_(options_.beta2).addcmul_(gradient, gradient, 1.0 - options_.beta2);
    parameters_[i].addcdiv_(first_[i], second_[i].sqrt().add_(epsilon), -step);
  }
}

}  // namespace kindred
