// A network written out in double precision: what Mlp must compute.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kindred/nn/mlp.h"

namespace kindred {

/// The outputs for one row x; `parameters` are packed.
inline std::vector<double> exact_outputs(const MlpShape& shape, std::span<const double> parameters,
                                         std::vector<double> x) {
  auto widths = shape.hidden;
  widths.push_back(shape.outputs);
  auto next = parameters.begin();
  for (std::size_t layer = 0; layer < widths.size(); ++layer) {
    std::vector<double> y(static_cast<std::size_t>(widths[layer]));
    for (const double value : x)
      for (auto& sum : y) sum += value * *next++;
    for (auto& sum : y) sum += *next++;
    if (layer + 1 < widths.size())
      for (auto& sum : y)
        sum = shape.activation == Activation::kTanh ? std::tanh(sum) : std::max(sum, 0.0);
    x = std::move(y);
  }
  return x;
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
