// A network written out in double precision: what Mlp must compute.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kindred/nn/mlp.h"

namespace kindred {

/// The outputs for one row x, one head's after the other's; `parameters` are packed.
inline std::vector<double> exact_outputs(const MlpShape& shape, std::span<const double> parameters,
                                         std::vector<double> x) {
  auto next = parameters.begin();
  const auto layer = [&](std::int64_t width) {
    std::vector<double> y(static_cast<std::size_t>(width));
    for (const double value : x)
      for (auto& sum : y) sum += value * *next++;
    for (auto& sum : y) sum += *next++;
    return y;
  };
  for (const auto width : shape.hidden) {
    x = layer(width);
    for (auto& sum : x)
      sum = shape.activation == Activation::kTanh ? std::tanh(sum) : std::max(sum, 0.0);
  }
  std::vector<double> outputs;
  for (std::int64_t head = 0; head < shape.heads; ++head)
    for (const double value : layer(shape.outputs)) outputs.push_back(value);
  return outputs;
}

/// Of a row of floats.
inline std::vector<double> plain_outputs(const MlpShape& shape, std::span<const double> parameters,
                                         std::span<const float> row) {
  return exact_outputs(shape, parameters, {row.begin(), row.end()});
}

inline std::vector<double> packed_doubles(const Mlp& network) {
  const auto packed = network.packed();
  return {packed.begin(), packed.end()};
}

/// Numbers laid out as a network's parameters, without the padding.
inline std::vector<float> without_padding(const MlpShape& shape, std::span<const float> values) {
  Mlp network(shape);
  network.set_parameters(values);
  return network.packed();
}

/// The slope of f at x along x[i].
template <class Function>
double slope(const Function& f, std::vector<double> x, std::size_t i) {
  constexpr double kStep = 1e-6;
  x[i] += kStep;
  const double above = f(x);
  x[i] -= 2.0 * kStep;
  return (above - f(x)) / (2.0 * kStep);
}

}  // namespace kindred
