#include "kindred/nn/adam.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/error.h"
#include "kindred/core/vectorise.h"
#include "kindred/nn/elementwise.h"

namespace kindred {
namespace {

struct Factors {
  float scale, beta1, beta2, rate, epsilon;
};

/// Restricted, or averages would be read back right after they were stored, which takes three times
/// as long for some places in memory.
KINDRED_VECTORISE
void take_step(std::int64_t n, const float* __restrict gradient, Factors f, float* __restrict first,
               float* __restrict second, float* __restrict parameter) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = gradient[i] * f.scale;
    first[i] = f.beta1 * first[i] + (1.0F - f.beta1) * g;
    second[i] = f.beta2 * second[i] + (1.0F - f.beta2) * g * g;
    parameter[i] -= f.rate * first[i] / (std::sqrt(second[i]) + f.epsilon);
  }
}

}  // namespace

AdamRates adam_rates(const AdamOptions& options, std::int64_t step) {
  const double correction1 = 1.0 - std::pow(options.beta1, static_cast<double>(step));
  const double correction2 = 1.0 - std::pow(options.beta2, static_cast<double>(step));
  return {options.learning_rate * std::sqrt(correction2) / correction1,
          options.epsilon * std::sqrt(correction2)};
}

void require_like(const AdamState& state, const AdamState& expected) {
  const auto is_negative = [](std::int64_t steps) { return steps < 0; };
  if (state.steps.size() != expected.steps.size() || state.first.size() != expected.first.size() ||
      state.second.size() != expected.second.size() ||
      std::ranges::any_of(state.steps, is_negative))
    throw InvalidArgument("the optimiser's state is not that of these {} parameters",
                          expected.first.size());
}

Adam::Adam(std::size_t numbers)
    : state_{{0}, std::vector<float>(numbers), std::vector<float>(numbers)} {}

void Adam::update(std::span<const float> gradient, const AdamOptions& options,
                  std::span<float> parameters) {
  const auto n = static_cast<std::int64_t>(state_.first.size());
  const float norm = std::sqrt(squared_norm(n, gradient.data()));
  const auto [rate, epsilon] = adam_rates(options, ++state_.steps[0]);
  const Factors factors{
      .scale = std::min(1.0F, static_cast<float>(options.max_gradient_norm) / (norm + 1e-6F)),
      .beta1 = static_cast<float>(options.beta1),
      .beta2 = static_cast<float>(options.beta2),
      .rate = static_cast<float>(rate),
      .epsilon = static_cast<float>(epsilon)};
  take_step(n, gradient.data(), factors, state_.first.data(), state_.second.data(),
            parameters.data());
}

void Adam::forget() {
  state_.steps[0] = 0;
  std::ranges::fill(state_.first, 0.0F);
  std::ranges::fill(state_.second, 0.0F);
}

void Adam::restore(AdamState state) {
  require_like(state, state_);
  state_ = std::move(state);
}

}  // namespace kindred
