#include "kindred/nn/mlp.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr std::int64_t kUsuallySet = 32;  // of sparse inputs: what one row of weights is scaled for

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
  return count + heads * (below + 1) * outputs;
}

Mlp::Mlp(MlpShape shape) : shape_(std::move(shape)) {
  if (shape_.inputs < 1 || shape_.outputs < 1 || shape_.heads < 1)
    throw InvalidArgument("a network needs inputs and outputs");
  std::int64_t inputs = shape_.inputs, width = inputs, offset = 0;
  const auto place = [&](std::int64_t outputs) {
    const auto bias = offset + width * padded(outputs);
    layers_.push_back(
        {{width, padded(outputs), offset, bias, padded(outputs) - outputs}, inputs, outputs});
    offset = bias + padded(outputs);
  };
  for (const auto units : shape_.hidden) {
    if (units < 1) throw InvalidArgument("a hidden layer has {} units; it needs some", units);
    place(units);
    inputs = units;
    width = padded(units);
  }
  for (std::int64_t head = 0; head < shape_.heads; ++head) place(shape_.outputs);
  parameters_.resize(static_cast<std::size_t>(offset));
  transposed_.resize(static_cast<std::size_t>(offset));
  const auto outputs = shape_.heads * shape_.outputs, stride = padded(outputs);
  output_ = {width, stride, 0, width * stride, stride - outputs};
  output_parameters_.resize(static_cast<std::size_t>((width + 1) * stride));
  output_transposed_.resize(output_parameters_.size());
}

void Mlp::initialise(Random random, double output_gain) {
  std::ranges::fill(parameters_, 0.0F);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& [linear, inputs, outputs] = layers_[l];
    const auto fan_in = reads_inputs(l) && shape_.sparse ? kUsuallySet : inputs;
    const double scale =
        (l >= shape_.hidden.size() ? output_gain : 1.0) / std::sqrt(static_cast<double>(fan_in));
    for (std::int64_t i = 0; i < inputs; ++i)
      for (std::int64_t j = 0; j < outputs; ++j)
        parameters_[static_cast<std::size_t>(linear.weight + i * linear.outputs + j)] =
            static_cast<float>(scale * random.normal());
  }
  parameters_changed();
}

void Mlp::set_parameters(std::span<const float> values) {
  check_count(values, static_cast<std::int64_t>(parameters_.size()));
  std::ranges::copy(values, parameters_.begin());
  parameters_changed();
}

template <class Visit>
void Mlp::for_each_head_row(const Visit& visit) const {
  for (std::int64_t head = 0; head < shape_.heads; ++head) {
    const auto& linear = layers_[shape_.hidden.size() + static_cast<std::size_t>(head)].linear;
    for (std::int64_t row = 0; row <= linear.inputs; ++row)  // the bias follows the last
      visit(linear.weight + row * linear.outputs, row * output_.outputs + head * shape_.outputs);
  }
}

void Mlp::parameters_changed() {
  for (std::size_t l = 1; l < shape_.hidden.size(); ++l)
    layers_[l].linear.transpose_weight(parameters_.data(), transposed_.data());
  for_each_head_row([&](std::int64_t from, std::int64_t to) {
    std::copy_n(parameters_.data() + from, shape_.outputs, output_parameters_.data() + to);
  });
  if (!shape_.hidden.empty())
    output_.transpose_weight(output_parameters_.data(), output_transposed_.data());
}

std::vector<float> Mlp::packed() const {
  std::vector<float> values;
  const auto put = [&](std::int64_t offset, std::int64_t count) {
    values.insert(values.end(), parameters_.begin() + offset, parameters_.begin() + offset + count);
  };
  for (const auto& [linear, inputs, outputs] : layers_) {
    for (std::int64_t row = 0; row < inputs; ++row)
      put(linear.weight + row * linear.outputs, outputs);
    put(linear.bias, outputs);
  }
  return values;
}

void Mlp::unpack(std::span<const float> values) {
  check_count(values, shape_.parameters());
  const auto take = [&](std::int64_t offset, std::int64_t count) {
    std::ranges::copy(values.first(static_cast<std::size_t>(count)), parameters_.begin() + offset);
    values = values.subspan(static_cast<std::size_t>(count));
  };
  for (const auto& [linear, inputs, outputs] : layers_) {
    for (std::int64_t row = 0; row < inputs; ++row)
      take(linear.weight + row * linear.outputs, outputs);
    take(linear.bias, outputs);
  }
  parameters_changed();
}

void Mlp::forward(std::size_t layer, std::int64_t rows, const float* x,
                  std::vector<float>& out) const {
  const auto& linear = layers_[layer].linear;
  const bool sparse = reads_inputs(layer) && shape_.sparse;
  const bool rectify = !sparse && shape_.activation == Activation::kRelu;
  if (sparse)
    linear.forward_sparse(rows, x, parameters_.data(), out);
  else
    linear.forward(rows, x, parameters_.data(), out, rectify);
  if (!rectify) activate(shape_.activation, rows * linear.outputs, out.data());
}

std::span<const float> Mlp::forward(std::int64_t rows, const float* x, Pass& pass) const {
  pass.hidden.resize(shape_.hidden.size());
  std::size_t layer = 0;
  for (auto& out : pass.hidden) {
    forward(layer++, rows, x, out);
    x = out.data();
  }
  if (reads_inputs(layer) && shape_.sparse)
    output_.forward_sparse(rows, x, output_parameters_.data(), pass.outputs);
  else
    output_.forward(rows, x, output_parameters_.data(), pass.outputs);
  return {pass.outputs.data(), static_cast<std::size_t>(rows * output_stride())};
}

void Mlp::parameter_gradient(std::size_t layer, const Linear& linear, std::int64_t rows,
                             const float* x, const float* delta, float* gradient, bool add) const {
  if (reads_inputs(layer) && shape_.sparse)
    linear.parameter_gradient_sparse(rows, x, delta, gradient, add);
  else
    linear.parameter_gradient(rows, x, delta, gradient, add);
}

void Mlp::head_gradients(std::int64_t rows, const float* x, const float* delta, Pass& pass,
                         std::span<float> gradient, bool add) const {
  auto& found = pass.output_gradient;
  found.resize(output_parameters_.size());
  if (add)
    for_each_head_row([&](std::int64_t from, std::int64_t to) {
      std::copy_n(gradient.data() + from, shape_.outputs, found.data() + to);
    });
  if (shape_.hidden.empty())
    parameter_gradient(0, output_, rows, x, delta, found.data(), add);
  else
    output_.narrow_parameter_gradient(rows, x, delta, found.data(), pass.turned, add);
  const auto padding = layers_.back().linear.padding;
  for_each_head_row([&](std::int64_t to, std::int64_t from) {
    float* end = std::copy_n(found.data() + from, shape_.outputs, gradient.data() + to);
    if (!add) std::fill_n(end, padding, 0.0F);
  });
}

template <class Visit>
void Mlp::walk_back(std::int64_t rows, std::span<const float> delta, Pass& pass,
                    const Visit& visit) const {
  const auto depth = shape_.hidden.size();
  if (depth == 0) return;
  const bool relu = shape_.activation == Activation::kRelu;
  const auto rectified = [&](std::size_t l) { return relu ? pass.hidden[l].data() : nullptr; };
  output_.pass_back(rows, delta.data(), output_transposed_.data(), pass.delta, /*add=*/false,
                    rectified(depth - 1));
  for (auto l = depth; l-- > 0;) {
    const auto& linear = layers_[l].linear;
    if (!relu)
      activation_gradient(shape_.activation, rows * linear.outputs, pass.hidden[l].data(),
                          pass.delta.data());
    visit(l, pass.delta.data());
    if (l == 0) return;
    linear.pass_back(rows, pass.delta.data(), transposed_.data(), pass.below, /*add=*/false,
                     rectified(l - 1));
    std::swap(pass.delta, pass.below);
  }
}

void Mlp::backward(std::int64_t rows, const float* x, std::span<const float> delta, Pass& pass,
                   std::span<float> gradient, bool add) const {
  const auto below = [&](std::size_t l) { return l > 0 ? pass.hidden[l - 1].data() : x; };
  head_gradients(rows, below(shape_.hidden.size()), delta.data(), pass, gradient, add);
  walk_back(rows, delta, pass, [&](std::size_t l, const float* layer_delta) {
    parameter_gradient(l, layers_[l].linear, rows, below(l), layer_delta, gradient.data(), add);
  });
}

std::span<const float> Mlp::input_gradient(std::int64_t rows, std::span<const float> delta,
                                           std::int64_t first, std::int64_t count,
                                           Pass& pass) const {
  if (shape_.hidden.empty())
    throw InvalidArgument("inputs have gradients in networks with hidden layers only");
  walk_back(rows, delta, pass, [](std::size_t, const float*) {});
  const auto& linear = layers_.front().linear;
  const auto width = padded(count);
  pass.columns.assign(static_cast<std::size_t>(linear.outputs * width), 0.0F);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t unit = 0; unit < linear.outputs; ++unit)
      pass.columns[static_cast<std::size_t>(unit * width + i)] =
          parameters_[static_cast<std::size_t>(linear.weight + (first + i) * linear.outputs +
                                               unit)];
  pass.inputs.resize(static_cast<std::size_t>(rows * width));
  gemm(rows, width, linear.outputs, {pass.delta.data(), linear.outputs, 1}, pass.columns.data(),
       pass.inputs.data(), /*accumulate=*/false);
  return pass.inputs;
}

}  // namespace kindred
