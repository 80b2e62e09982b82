#include "kindred/nn/cpu_policy.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/nn/elementwise.h"
#include "kindred/nn/gemm.h"
#include "kindred/nn/layers.h"

namespace kindred {
namespace {

float deviation_of(float raw) { return softplus(raw) + 1e-5F; }

}  // namespace

/// Widths are padded to whole lanes; the padding holds zeros and receives zero gradients.
struct CpuPolicy::Buffers {
  struct Layer {
    std::int64_t inputs = 0;         // rows of the weight: the padded width of the layer below
    std::int64_t outputs = 0;        // as the architecture has it
    std::int64_t offset = 0;         // of the weight in the parameters; the bias follows it
    std::vector<float> activations;  // [batch, width()]
    std::vector<float> deltas;       // [batch, width()]: the loss's gradient there

    std::int64_t width() const { return padded(outputs); }
    std::int64_t bias() const { return offset + inputs * width(); }
  };

  PolicyArchitecture architecture;
  std::vector<Layer> hidden;
  std::vector<Layer> heads;  // logits; or means and raw deviations
  std::int64_t batch = 0;
  std::vector<float> parameters, gradients;
  Adam adam{0};
  std::vector<float> transposed;  // a weight, for passing gradients back

  explicit Buffers(const PolicyArchitecture& a) : architecture(a) {
    std::int64_t width = a.inputs;
    std::int64_t offset = 0;
    const auto add = [&](std::vector<Layer>& layers, std::int64_t outputs) {
      layers.push_back({width, outputs, offset, {}, {}});
      offset += (width + 1) * padded(outputs);
    };
    for (const auto outputs : a.hidden) {
      add(hidden, outputs);
      width = padded(outputs);
    }
    for (int h = 0; h < (a.discrete ? 1 : 2); ++h) add(heads, a.actions);
    parameters.resize(static_cast<std::size_t>(offset));
    gradients.resize(parameters.size());
    adam = Adam(parameters.size());
  }

  /// Calls visit(layer, inputs of the stack's own layer) in the order of a stack's parameters.
  template <class Visit>
  void for_each_layer(Visit visit) {
    std::int64_t inputs = architecture.inputs;
    for (auto& layer : hidden) {
      visit(layer, inputs);
      inputs = layer.outputs;
    }
    for (auto& head : heads) visit(head, inputs);
  }

  void resize(std::int64_t rows) {
    if (rows == batch) return;
    batch = rows;
    for_each_layer([&](Layer& layer, std::int64_t) {
      layer.activations.assign(static_cast<std::size_t>(rows * layer.width()), 0.0F);
      layer.deltas.assign(layer.activations.size(), 0.0F);
    });
  }

  void forward_layer(const Layer& layer, std::int64_t rows, const float* inputs,
                     std::vector<float>& out) const {
    affine(rows, layer.inputs, layer.width(), inputs, parameters.data() + layer.offset,
           parameters.data() + layer.bias(), out);
  }

  const float* last_hidden(const float* inputs) const {
    return hidden.empty() ? inputs : hidden.back().activations.data();
  }

  void forward(std::span<const float> inputs) {
    resize(static_cast<std::int64_t>(inputs.size()) / architecture.inputs);
    const float* x = inputs.data();
    for (auto& layer : hidden) {
      forward_layer(layer, batch, x, layer.activations);
      relu(batch * layer.width(), layer.activations.data());
      x = layer.activations.data();
    }
    for (auto& head : heads) forward_layer(head, batch, x, head.activations);
  }

  /// Gradients of one layer's parameters from its deltas.
  void parameter_gradients(const Layer& layer, const float* inputs) {
    gemm(layer.inputs, layer.width(), batch, {inputs, 1, layer.inputs}, layer.deltas.data(),
         gradients.data() + layer.offset, false);
    sum_rows(batch, layer.width(), layer.deltas.data(), gradients.data() + layer.bias());
  }

  /// Sets, or adds, what a layer passes back to the layer below.
  void pass_back(const Layer& layer, Layer& below, bool add) {
    transposed.resize(static_cast<std::size_t>(layer.inputs * layer.width()));
    transpose(layer.inputs, layer.width(), parameters.data() + layer.offset, transposed.data());
    gemm(batch, layer.inputs, layer.width(), {layer.deltas.data(), layer.width(), 1},
         transposed.data(), below.deltas.data(), add);
  }

  /// From the heads' deltas to every gradient.
  void backward(const float* inputs) {
    for (std::size_t h = 0; h < heads.size(); ++h) {
      parameter_gradients(heads[h], last_hidden(inputs));
      if (!hidden.empty()) pass_back(heads[h], hidden.back(), h > 0);
    }
    for (auto l = hidden.size(); l-- > 0;) {
      auto& layer = hidden[l];
      mask_gradient(batch * layer.width(), layer.activations.data(), layer.deltas.data());
      parameter_gradients(layer, l > 0 ? hidden[l - 1].activations.data() : inputs);
      if (l > 0) pass_back(layer, hidden[l - 1], false);
    }
  }
};

CpuPolicy::CpuPolicy(const PolicyArchitecture& architecture)
    : buffers_(std::make_unique<Buffers>(architecture)) {}

CpuPolicy::~CpuPolicy() = default;

void CpuPolicy::load(const PolicyStack& stack, std::int64_t index) {
  if (!(stack.architecture() == buffers_->architecture))
    throw InvalidArgument("this policy has another architecture than the stack");
  std::ranges::fill(buffers_->parameters, 0.0F);
  std::size_t parameter = 0;
  buffers_->for_each_layer([&](const Buffers::Layer& layer, std::int64_t inputs) {
    const auto weight = stack.parameters()[parameter++][index].detach().contiguous();
    const auto bias = stack.parameters()[parameter++][index].detach().contiguous();
    float* out = buffers_->parameters.data();
    for (std::int64_t i = 0; i < inputs; ++i)
      std::copy_n(weight.data_ptr<float>() + i * layer.outputs, layer.outputs,
                  out + layer.offset + i * layer.width());
    std::copy_n(bias.data_ptr<float>(), layer.outputs, out + layer.bias());
  });
  buffers_->adam.forget();
}

void CpuPolicy::store(PolicyStack& stack, std::int64_t index) const {
  std::size_t parameter = 0;
  const float* in = buffers_->parameters.data();
  buffers_->for_each_layer([&](const Buffers::Layer& layer, std::int64_t inputs) {
    auto weight = stack.parameters()[parameter++][index].detach();  // a leading index: contiguous
    auto bias = stack.parameters()[parameter++][index].detach();
    for (std::int64_t i = 0; i < inputs; ++i)
      std::copy_n(in + layer.offset + i * layer.width(), layer.outputs,
                  weight.data_ptr<float>() + i * layer.outputs);
    std::copy_n(in + layer.bias(), layer.outputs, bias.data_ptr<float>());
  });
}

CpuPolicy::Training CpuPolicy::training() const {
  return {buffers_->parameters, buffers_->adam.state()};
}

void CpuPolicy::resume(Training training) {
  if (training.parameters.size() != buffers_->parameters.size())
    throw InvalidArgument("this policy has another architecture than the one that was saved");
  buffers_->adam.restore(std::move(training.adam));
  buffers_->parameters = std::move(training.parameters);
}

void CpuPolicy::all_log_probs(std::span<const float> inputs, std::span<float> out) {
  buffers_->forward(inputs);
  auto& logits = buffers_->heads[0];
  log_softmax(buffers_->batch, logits.outputs, logits.width(), logits.activations.data());
  for (std::int64_t b = 0; b < buffers_->batch; ++b)
    std::copy_n(logits.activations.data() + b * logits.width(), logits.outputs,
                out.data() + b * logits.outputs);
}

void CpuPolicy::log_densities(std::span<const float> inputs, std::span<const float> actions,
                              std::span<float> out) {
  buffers_->forward(inputs);
  const auto& means = buffers_->heads[0];
  const auto& raws = buffers_->heads[1];
  const auto log_root_two_pi = static_cast<float>(0.5 * std::log(2.0 * std::numbers::pi));
  const float* action = actions.data();
  for (std::int64_t b = 0; b < buffers_->batch; ++b) {
    const float* mean = means.activations.data() + b * means.width();
    const float* raw = raws.activations.data() + b * raws.width();
    float sum = 0.0F;
    for (std::int64_t a = 0; a < means.outputs; ++a) {
      const float deviation = deviation_of(raw[a]);
      const float z = (*action++ - mean[a]) / deviation;
      sum -= 0.5F * z * z + std::log(deviation) + log_root_two_pi;
    }
    out[static_cast<std::size_t>(b)] = sum;
  }
}

void CpuPolicy::distribution(std::span<const float> inputs, std::span<float> out) const {
  // Buffers of its own: the others belong to whoever trains.
  const auto& network = *buffers_;
  const auto rows = static_cast<std::int64_t>(inputs.size()) / network.architecture.inputs;
  std::vector<float> below(inputs.begin(), inputs.end());
  std::vector<float> above;
  for (const auto& layer : network.hidden) {
    network.forward_layer(layer, rows, below.data(), above);
    relu(rows * layer.width(), above.data());
    below.swap(above);
  }
  const auto width = network.architecture.actions;
  const auto parts = static_cast<std::int64_t>(network.heads.size());
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto& head = network.heads[static_cast<std::size_t>(part)];
    network.forward_layer(head, rows, below.data(), above);
    for (std::int64_t b = 0; b < rows; ++b)
      std::copy_n(above.data() + b * head.width(), width, out.data() + (b * parts + part) * width);
  }
  if (network.architecture.discrete) {
    log_softmax(rows, width, width, out.data());
    std::ranges::transform(out, out.begin(), [](float x) { return std::exp(x); });
  } else {
    for (std::int64_t b = 0; b < rows; ++b) {
      float* deviations = out.data() + (2 * b + 1) * width;
      std::transform(deviations, deviations + width, deviations, deviation_of);
    }
  }
}

double CpuPolicy::gradient_on_weights(std::span<const float> inputs,
                                      std::span<const float> weights) {
  buffers_->forward(inputs);
  auto& logits = buffers_->heads[0];
  log_softmax(buffers_->batch, logits.outputs, logits.width(), logits.activations.data());
  double loss = 0.0;
  for (std::int64_t b = 0; b < buffers_->batch; ++b) {
    const float* weight = weights.data() + b * logits.outputs;
    const float* log_prob = logits.activations.data() + b * logits.width();
    float* delta = logits.deltas.data() + b * logits.width();
    float total = 0.0F;
    for (std::int64_t a = 0; a < logits.outputs; ++a) total += weight[a];
    for (std::int64_t a = 0; a < logits.outputs; ++a) {
      if (weight[a] != 0.0F) loss -= static_cast<double>(weight[a] * log_prob[a]);
      delta[a] = total * std::exp(log_prob[a]) - weight[a];
    }
  }
  buffers_->backward(inputs.data());
  return loss;
}

double CpuPolicy::gradient_on_actions(std::span<const float> inputs, std::span<const float> actions,
                                      std::span<const float> weights) {
  buffers_->forward(inputs);
  auto& means = buffers_->heads[0];
  auto& raws = buffers_->heads[1];
  const double log_root_two_pi = 0.5 * std::log(2.0 * std::numbers::pi);
  const float* action = actions.data();
  double loss = 0.0;
  for (std::int64_t b = 0; b < buffers_->batch; ++b) {
    const float weight = weights[static_cast<std::size_t>(b)];
    for (std::int64_t a = 0; a < means.outputs; ++a) {
      const auto i = static_cast<std::size_t>(b * means.width() + a);
      const float raw = raws.activations[i];
      const float deviation = deviation_of(raw);
      const float z = (*action++ - means.activations[i]) / deviation;
      loss += static_cast<double>(weight) *
              (static_cast<double>(0.5F * z * z + std::log(deviation)) + log_root_two_pi);
      means.deltas[i] = -weight * z / deviation;
      raws.deltas[i] = weight * (1.0F - z * z) / deviation / (1.0F + std::exp(-raw));
    }
  }
  buffers_->backward(inputs.data());
  return loss;
}

std::span<float> CpuPolicy::gradient() { return buffers_->gradients; }

void CpuPolicy::update(const AdamOptions& options) {
  buffers_->adam.update(buffers_->gradients, options, buffers_->parameters);
}

}  // namespace kindred
