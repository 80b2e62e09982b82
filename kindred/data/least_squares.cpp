#include "kindred/data/least_squares.h"

#include <algorithm>
#include <cmath>

namespace kindred {

LeastSquares::LeastSquares(std::int64_t inputs, std::int64_t outputs)
    : inputs_(static_cast<std::size_t>(inputs)),
      outputs_(static_cast<std::size_t>(outputs)),
      squares_(inputs_ * inputs_, 0.0),
      products_(inputs_ * outputs_, 0.0) {}

void LeastSquares::add(std::span<const double> input, std::span<const double> output) {
  for (std::size_t i = 0; i < inputs_; ++i) {
    double* square = squares_.data() + i * inputs_;
    for (std::size_t j = 0; j <= i; ++j) square[j] += input[i] * input[j];
    double* product = products_.data() + i * outputs_;
    for (std::size_t j = 0; j < outputs_; ++j) product[j] += input[i] * output[j];
  }
}

std::vector<double> LeastSquares::weights(double ridge) const {
  auto l = squares_;
  auto x = products_;
  double trace = 0.0;
  for (std::size_t i = 0; i < inputs_; ++i) trace += l[i * inputs_ + i];
  const double least = ridge * trace / static_cast<double>(inputs_) + 1e-300;
  for (std::size_t i = 0; i < inputs_; ++i) l[i * inputs_ + i] += least;
  for (std::size_t i = 0; i < inputs_; ++i)  // Cholesky, in place
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = l[i * inputs_ + j];
      for (std::size_t m = 0; m < j; ++m) sum -= l[i * inputs_ + m] * l[j * inputs_ + m];
      l[i * inputs_ + j] = i == j ? std::sqrt(std::max(sum, least)) : sum / l[j * inputs_ + j];
    }
  for (std::size_t o = 0; o < outputs_; ++o) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      double sum = x[i * outputs_ + o];
      for (std::size_t m = 0; m < i; ++m) sum -= l[i * inputs_ + m] * x[m * outputs_ + o];
      x[i * outputs_ + o] = sum / l[i * inputs_ + i];
    }
    for (std::size_t i = inputs_; i-- > 0;) {
      double sum = x[i * outputs_ + o];
      for (std::size_t m = i + 1; m < inputs_; ++m) sum -= l[m * inputs_ + i] * x[m * outputs_ + o];
      x[i * outputs_ + o] = sum / l[i * inputs_ + i];
    }
  }
  return x;
}

void apply_weights(std::span<const double> weights, std::span<const double> input,
                   std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (std::size_t i = 0; i < input.size(); ++i)
    for (std::size_t o = 0; o < out.size(); ++o) out[o] += input[i] * weights[i * out.size() + o];
}

}  // namespace kindred
