#include "kindred/nn/mlp.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/error.h"
#include "kindred/nn/layers.h"

namespace kindred {
namespace {

constexpr std::int64_t kUsuallySet = 32;  // of sparse inputs: what one row of weights is scaled for

/// Calls visit(column, value) for every x that is not 0, in order.
template <class Visit>
void for_each_set(std::int64_t inputs, const float* x, Visit visit) {
  for (std::int64_t i = 0; i < inputs; ++i)
    if (x[i] != 0.0F) visit(i, x[i]);
}

void check_count(std::span<const float> values, std::int64_t expected) {
  if (static_cast<std::int64_t>(values.size()) != expected)
    throw InvalidArgument("a network of this shape has {} parameters, not {}", expected,
                          values.size());
}

}  // namespace

std::int64_t MlpShape::parameters() const {
  std::int64_t count = 0, below = inputs;
  for (const auto units : hidden) {
    count += (below + 1) * units;
    below = units;
  }
  return count + (below + 1) * outputs;
}

Mlp::Mlp(MlpShape shape) : shape_(std::move(shape)) {
  if (shape_.inputs < 1 || shape_.outputs < 1 || shape_.hidden.empty())
    throw InvalidArgument("a network needs inputs, outputs and a hidden layer");
  std::int64_t inputs = shape_.inputs, offset = 0, transposed = 0;
  auto widths = shape_.hidden;
  widths.push_back(shape_.outputs);
  for (const auto& outputs : widths) {
    const auto width = padded(outputs);
    if (&outputs != &widths.back() && (outputs < 1 || outputs != width))
      throw InvalidArgument("a hidden layer has {} units; multiples of {} are possible", outputs,
                            kLane);
    layers_.push_back({inputs, outputs, width, offset, offset + inputs * width, transposed});
    offset += (inputs + 1) * width;
    if (layers_.size() > 1) transposed += inputs * width;
    inputs = width;
  }
  parameters_.resize(static_cast<std::size_t>(offset));
  transposed_.resize(static_cast<std::size_t>(transposed));
}

void Mlp::initialise(Random random, double output_gain) {
  std::ranges::fill(parameters_, 0.0F);
  for (const auto& layer : layers_) {
    const bool first = &layer == &layers_.front();
    const auto fan_in = first && shape_.sparse ? kUsuallySet : layer.inputs;
    const double scale =
        (&layer == &layers_.back() ? output_gain : 1.0) / std::sqrt(static_cast<double>(fan_in));
    for (std::int64_t i = 0; i < layer.inputs; ++i)
      for (std::int64_t j = 0; j < layer.outputs; ++j)
        parameters_[static_cast<std::size_t>(layer.weight + i * layer.width + j)] =
            static_cast<float>(scale * random.normal());
  }
  parameters_changed();
}

void Mlp::set_parameters(std::span<const float> values) {
  check_count(values, static_cast<std::int64_t>(parameters_.size()));
  std::ranges::copy(values, parameters_.begin());
  parameters_changed();
}

void Mlp::parameters_changed() {
  for (std::size_t l = 1; l < layers_.size(); ++l)
    transpose(layers_[l].inputs, layers_[l].width, parameters_.data() + layers_[l].weight,
              transposed_.data() + layers_[l].transposed);
}

std::vector<float> Mlp::packed() const {
  std::vector<float> values;
  for (const auto& layer : layers_)
    for (std::int64_t row = 0; row <= layer.inputs; ++row) {  // the last row is the bias
      const float* from = parameters_.data() + layer.weight + row * layer.width;
      values.insert(values.end(), from, from + layer.outputs);
    }
  return values;
}

void Mlp::unpack(std::span<const float> values) {
  check_count(values, shape_.parameters());
  const float* from = values.data();
  for (const auto& layer : layers_)
    for (std::int64_t row = 0; row <= layer.inputs; ++row, from += layer.outputs)
      std::copy_n(from, layer.outputs, parameters_.data() + layer.weight + row * layer.width);
  parameters_changed();
}

std::span<const float> Mlp::forward(std::int64_t rows, const float* x, Pass& pass) const {
  pass.activations.resize(layers_.size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& layer = layers_[l];
    auto& out = pass.activations[l];
    const float* weight = parameters_.data() + layer.weight;
    const float* bias = parameters_.data() + layer.bias;
    if (l == 0 && shape_.sparse) {
      grow(out, rows * layer.width);
      fill_rows(rows, layer.width, bias, out.data());
      for (std::int64_t r = 0; r < rows; ++r)
        for_each_set(layer.inputs, x + r * layer.inputs, [&](std::int64_t i, float value) {
          add_scaled(layer.width, value, weight + i * layer.width, out.data() + r * layer.width);
        });
    } else {
      affine(rows, layer.inputs, layer.width, x, weight, bias, out);
    }
    if (l + 1 < layers_.size()) tanh_rows(rows * layer.width, out.data());
    x = out.data();
  }
  return {pass.activations.back().data(), static_cast<std::size_t>(rows * output_stride())};
}

void Mlp::backward(std::int64_t rows, const float* x, std::span<const float> delta, Pass& pass,
                   std::span<float> gradient) const {
  pass.delta.assign(delta.begin(), delta.end());
  for (auto l = layers_.size(); l-- > 0;) {
    const auto& layer = layers_[l];
    const float* inputs = l > 0 ? pass.activations[l - 1].data() : x;
    float* weight = gradient.data() + layer.weight;
    if (l == 0 && shape_.sparse) {
      for (std::int64_t r = 0; r < rows; ++r)
        for_each_set(layer.inputs, inputs + r * layer.inputs, [&](std::int64_t i, float value) {
          add_scaled(layer.width, value, pass.delta.data() + r * layer.width,
                     weight + i * layer.width);
        });
    } else {
      weight_gradient(rows, layer.inputs, layer.width, inputs, pass.delta.data(), weight);
    }
    sum_rows(rows, layer.width, pass.delta.data(), gradient.data() + layer.bias, true);
    if (l == 0) return;
    pass_back(rows, layer.width, layer.inputs, pass.delta.data(),
              transposed_.data() + layer.transposed, pass.below);
    tanh_gradient(rows * layer.inputs, inputs, pass.below.data());
    std::swap(pass.delta, pass.below);
  }
}

}  // namespace kindred
