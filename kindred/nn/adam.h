// Adam (Kingma and Ba, 2015) on gradients shortened to a longest norm: the rule, what it remembers,
// and the step over plain numbers. TensorAdam takes the same step over LibTorch's tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double max_gradient_norm = 0.5;  ///< Longer gradients are shortened to it.
};

/// Step size and epsilon with the bias corrections in them.
struct AdamRates {
  double rate, epsilon;
};

/// The rates of step number `step`, the first being 1.
AdamRates adam_rates(const AdamOptions& options, std::int64_t step);

/// Everything a step depends on besides gradient, parameters and options.
struct AdamState {
  std::vector<std::int64_t> steps;   ///< Taken since the averages were 0, by each parameter.
  std::vector<float> first, second;  ///< Averages of gradients and of their squares.
};

/// One parameter in a step: where its numbers lie and what they remember.
struct AdamPiece {
  float* parameter;
  const float* gradient;
  float *first, *second;
  std::int64_t numbers;
  AdamRates rates;
};

/// Throws InvalidArgument unless `state` is one of as many parameters and numbers as `expected`.
void require_like(const AdamState& state, const AdamState& expected);

/// Over one vector of numbers, which counts as one parameter.
class Adam {
 public:
  explicit Adam(std::size_t numbers);

  /// One step against `gradient`; both are as long as this was made for.
  void update(std::span<const float> gradient, const AdamOptions& options,
              std::span<float> parameters);
  /// Starts over: the next step is the first.
  void forget();

  const AdamState& state() const { return state_; }
  /// Throws InvalidArgument for the state of other parameters.
  void restore(AdamState state);

 private:
  AdamState state_;
};

}  // namespace kindred
