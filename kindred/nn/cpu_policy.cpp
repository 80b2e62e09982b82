#include "kindred/nn/cpu_policy.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kindred/core/error.h"
#include "kindred/nn/gaussian.h"

namespace kindred {
namespace {

MlpShape shape_of(const PolicyArchitecture& architecture) {
  return {.inputs = architecture.inputs,
          .hidden = architecture.hidden,
          .outputs = architecture.actions,
          .heads = architecture.discrete ? 1 : 2,
          .activation = Activation::kRelu};
}

}  // namespace

CpuPolicy::CpuPolicy(const PolicyArchitecture& architecture)
    : architecture_(architecture),
      network_(shape_of(architecture)),
      adam_(network_.parameters().size()),
      gradient_(network_.parameters().size()) {}

void CpuPolicy::load(const PolicyStack& stack, std::int64_t index) {
  if (!(stack.architecture() == architecture_))
    throw InvalidArgument("this policy has another architecture than the stack");
  std::vector<float> values;
  for (const auto& parameter : stack.parameters()) {
    const auto part = parameter.of(index);
    values.insert(values.end(), part.begin(), part.end());
  }
  network_.unpack(values);
  adam_.forget();
}

void CpuPolicy::store(PolicyStack& stack, std::int64_t index) const {
  const auto values = network_.packed();
  const float* from = values.data();
  for (auto& parameter : stack.parameters()) {
    std::copy_n(from, parameter.count(), parameter.of(index).begin());
    from += parameter.count();
  }
}

CpuPolicy::Training CpuPolicy::training() const {
  auto layout = network_;
  const auto packed = [&](std::span<const float> padded) {
    layout.set_parameters(padded);
    return layout.packed();
  };
  const auto& adam = adam_.state();
  return {network_.packed(), {adam.steps, packed(adam.first), packed(adam.second)}};
}

void CpuPolicy::resume(Training training) {
  auto layout = network_;
  const auto padded = [&](std::span<const float> packed) {
    layout.unpack(packed);
    return std::vector<float>(layout.parameters().begin(), layout.parameters().end());
  };
  adam_.restore(
      {std::move(training.adam.steps), padded(training.adam.first), padded(training.adam.second)});
  network_.unpack(training.parameters);
}

std::int64_t CpuPolicy::rows_of(std::span<const float> inputs) const {
  return static_cast<std::int64_t>(inputs.size()) / architecture_.inputs;
}

void CpuPolicy::all_log_probs(std::span<const float> inputs, std::span<float> out,
                              Mlp::Pass& pass) const {
  const auto rows = rows_of(inputs);
  const auto actions = architecture_.actions, stride = network_.output_stride();
  network_.forward(rows, inputs.data(), pass);
  float* logits = pass.outputs.data();
  log_softmax(rows, actions, stride, logits);
  for (std::int64_t b = 0; b < rows; ++b)
    std::copy_n(logits + b * stride, actions, out.data() + b * actions);
}

void CpuPolicy::log_densities(std::span<const float> inputs, std::span<const float> actions,
                              std::span<float> out, Mlp::Pass& pass) const {
  const auto rows = rows_of(inputs);
  network_.forward(rows, inputs.data(), pass);
  const float* means = pass.outputs.data();
  gaussian_log_densities(rows, architecture_.actions, network_.output_stride(), means,
                         means + architecture_.actions, actions.data(), out.data());
}

void CpuPolicy::distribution(std::span<const float> inputs, std::span<float> out) const {
  const auto rows = rows_of(inputs);
  const auto actions = architecture_.actions, stride = network_.output_stride();
  Mlp::Pass pass;
  network_.forward(rows, inputs.data(), pass);
  const auto numbers = network_.shape().heads * actions;
  for (std::int64_t b = 0; b < rows; ++b)
    std::copy_n(pass.outputs.data() + b * stride, numbers, out.data() + b * numbers);
  if (architecture_.discrete) {
    log_softmax(rows, actions, actions, out.data());
    std::ranges::transform(out, out.begin(), [](float x) { return std::exp(x); });
  } else {
    for (std::int64_t b = 0; b < rows; ++b) {
      float* deviations = out.data() + (2 * b + 1) * actions;
      std::transform(deviations, deviations + actions, deviations, deviation_of);
    }
  }
}

double CpuPolicy::gradient_on_weights(std::span<const float> inputs, std::span<const float> weights,
                                      Buffers& buffers) {
  const auto rows = rows_of(inputs);
  const auto actions = architecture_.actions, stride = network_.output_stride();
  network_.forward(rows, inputs.data(), buffers.pass);
  float* logits = buffers.pass.outputs.data();
  log_softmax(rows, actions, stride, logits);
  buffers.deltas.assign(static_cast<std::size_t>(rows * stride), 0.0F);
  double loss = 0.0;
  for (std::int64_t b = 0; b < rows; ++b) {
    const float* weight = weights.data() + b * actions;
    const float* log_prob = logits + b * stride;
    float* delta = buffers.deltas.data() + b * stride;
    float total = 0.0F;
    for (std::int64_t a = 0; a < actions; ++a) total += weight[a];
    for (std::int64_t a = 0; a < actions; ++a) {
      if (weight[a] != 0.0F) loss -= static_cast<double>(weight[a] * log_prob[a]);
      delta[a] = total * std::exp(log_prob[a]) - weight[a];
    }
  }
  backward(inputs, buffers);
  return loss;
}

double CpuPolicy::gradient_on_actions(std::span<const float> inputs, std::span<const float> actions,
                                      std::span<const float> weights, Buffers& buffers) {
  const auto rows = rows_of(inputs);
  const auto width = architecture_.actions, stride = network_.output_stride();
  auto& [pass, deltas, factors] = buffers;
  network_.forward(rows, inputs.data(), pass);
  deltas.assign(static_cast<std::size_t>(rows * stride), 0.0F);
  factors.resize(weights.size());
  std::ranges::transform(weights, factors.begin(), std::negate<>{});
  const float* means = pass.outputs.data();
  const double loss = gaussian_gradient(rows, width, stride, means, means + width, actions.data(),
                                        factors.data(), deltas.data(), deltas.data() + width);
  backward(inputs, buffers);
  return loss;
}

void CpuPolicy::backward(std::span<const float> inputs, Buffers& buffers) {
  network_.backward(rows_of(inputs), inputs.data(), buffers.deltas, buffers.pass, gradient_,
                    /*add=*/false);
}

void CpuPolicy::update(const AdamOptions& options) {
  network_.change_parameters(
      [&](std::span<float> parameters) { adam_.update(gradient_, options, parameters); });
}

}  // namespace kindred
