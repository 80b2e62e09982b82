#include "kindred/policies/exact_policies.h"

#include <algorithm>
#include <cmath>

#include "kindred/nn/cholesky.h"
#include "kindred/nn/gemm.h"

namespace kindred {
namespace {

/// Of Σφφᵀ + ridge·I, with right sides [features, targets].
CholeskyFactor factor(const StatisticsLayout& layout, std::span<const double> sums, double ridge,
                      std::span<const double> right) {
  return {layout.features, sums, ridge, layout.targets, right};
}

/// Σφφᵀ · policy: [features, targets].
std::vector<double> predicted_cross(const StatisticsLayout& layout, std::span<const double> sums,
                                    std::span<const double> policy) {
  const auto features = layout.features, targets = layout.targets;
  const auto width = padded(targets, kDoubleLane), stride = std::max(features, width);
  std::vector<double> whole(static_cast<std::size_t>(features * stride));
  const double* gram = sums.data();
  for (std::int64_t m = 0; m < features; ++m)
    for (std::int64_t l = 0; l <= m; ++l, ++gram)
      whole[static_cast<std::size_t>(m * stride + l)] =
          whole[static_cast<std::size_t>(l * stride + m)] = *gram;
  std::vector<double> weights(static_cast<std::size_t>(features * width), 0.0),
      products(whole.size());
  for (std::int64_t m = 0; m < features; ++m)
    std::copy_n(policy.data() + m * targets, targets, weights.data() + m * width);
  const std::vector<double> nothing(static_cast<std::size_t>(width), 0.0);
  project(features, features, width, stride, whole.data(), weights.data(), nothing.data(),
          products.data());
  std::vector<double> result;
  for (std::int64_t m = 0; m < features; ++m)
    result.insert(result.end(), products.begin() + m * stride,
                  products.begin() + m * stride + targets);
  return result;
}

}  // namespace

std::vector<double> solve_policy(const StatisticsLayout& layout, std::span<const double> sums,
                                 double ridge) {
  return factor(layout, sums, ridge, sums.subspan(static_cast<std::size_t>(layout.cross())))
      .solution();
}

std::vector<double> fitted_error(const StatisticsLayout& layout, std::span<const double> sums,
                                 std::span<const double> weights) {
  const auto targets = static_cast<std::size_t>(layout.targets);
  std::vector<double> errors(sums.begin() + layout.squares(), sums.begin() + layout.steps());
  const auto cross = sums.subspan(static_cast<std::size_t>(layout.cross()));
  for (std::size_t i = 0; i < weights.size(); ++i) errors[i % targets] -= weights[i] * cross[i];
  for (auto& error : errors) error = std::max(error, 0.0);
  return errors;
}

double OwnPart::ratio(std::span<const double> noise) const {
  double sum = 0.0;
  for (std::size_t d = 0; d < noise.size(); ++d) sum += explained[d] / noise[d];
  return sum / (static_cast<double>(noise.size()) * parameters);
}

double OwnPart::surprise(std::span<const double> noise) const {
  // χ² of n degrees over n: its logarithm has a deviation of about √(2/n), and a tail that long
  // episodes with a small error everywhere do not stretch.
  constexpr double kLeastRatio = 1e-9;
  return std::log(std::max(kLeastRatio, ratio(noise))) *
         std::sqrt(0.5 * static_cast<double>(noise.size()) * parameters);
}

OwnPart least_surprising_quarter(std::vector<OwnPart> pieces, std::span<const double> noise) {
  const auto quarter = pieces.begin() + std::ssize(pieces) / 4;
  std::ranges::nth_element(pieces, quarter, {},
                           [&](const OwnPart& piece) { return piece.surprise(noise); });
  return *quarter;
}

OwnPart own_part(const StatisticsLayout& layout, std::span<const double> sums,
                 std::span<const double> policy, double ridge) {
  // What the policy misses, seen through the features: Σφ(a - policy)ᵀ.
  const auto predicted = predicted_cross(layout, sums, policy);
  std::vector<double> missed(sums.begin() + layout.cross(), sums.begin() + layout.squares());
  for (std::size_t i = 0; i < missed.size(); ++i) missed[i] -= predicted[i];
  const auto solved = factor(layout, sums, ridge, missed);
  return {.explained = solved.forms(),
          .parameters = static_cast<double>(layout.features) - ridge * solved.inverse_trace()};
}

double objective_of(std::span<const double> errors, double steps, std::vector<double>& noise) {
  double objective = 0.0;
  noise.clear();
  for (const double error : errors) {
    noise.push_back(std::max(kLeastNoise, error / steps));
    objective -= 0.5 * (steps * std::log(noise.back()) + error / noise.back());
  }
  return objective;
}

ExactPolicies solve_policies(const StatisticsLayout& layout, std::span<const double> sums,
                             std::int64_t k, double ridge) {
  const auto size = static_cast<std::size_t>(layout.size());
  const auto targets = static_cast<std::size_t>(layout.targets);
  const auto columns = static_cast<std::size_t>(k) * targets;
  ExactPolicies result;
  result.weights.resize(static_cast<std::size_t>(layout.features) * columns);
  std::vector<double> errors(targets, 0.0);
  double steps = 0.0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
    const auto own = sums.subspan(j * size, size);
    const auto weights = solve_policy(layout, own, ridge);
    const auto missed = fitted_error(layout, own, weights);
    for (std::size_t d = 0; d < targets; ++d) errors[d] += missed[d];
    for (std::size_t m = 0; m < static_cast<std::size_t>(layout.features); ++m)
      std::copy_n(weights.data() + m * targets, targets,
                  result.weights.data() + m * columns + j * targets);
    steps += own.back();
  }
  result.objective = objective_of(errors, steps, result.noise);
  return result;
}

}  // namespace kindred
