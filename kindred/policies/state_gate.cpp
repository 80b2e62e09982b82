#include "kindred/policies/state_gate.h"

#include <algorithm>
#include <cmath>

#include "kindred/policies/episode_statistics.h"
#include "kindred/policies/exact_policies.h"

namespace kindred {
namespace {

constexpr double kGateRidge = 1.0;
constexpr int kMostSteps = 7;
constexpr double kSmallStep = 5e-2, kLargeStep = 10.0;
constexpr double kLeastSpread = 1e-6;

double dot(std::span<const double> a, const double* b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::vector<double> fit_log_odds(const TwoKinds& sample) {
  const auto features = static_cast<std::size_t>(sample.features);
  const StatisticsLayout layout{sample.features, 1};
  std::vector<double> odds(features, 0.0), sums(static_cast<std::size_t>(layout.size()));
  const auto count = sample.rows.size() / features;
  std::vector<double> scaled(sample.rows.size()), missed(count);
  StepProducts products(layout);
  for (int step = 0; step < kMostSteps; ++step) {
    // With rows times √w and what they miss over it, sums of products are Σwφφᵀ and Σmφ.
    for (std::size_t i = 0; i < count; ++i) {
      const bool first = i < static_cast<std::size_t>(sample.firsts);
      const double weight = first ? sample.first_weight : sample.second_weight;
      const double* row = sample.rows.data() + i * features;
      const double chance = 1.0 / (1.0 + std::exp(-dot(odds, row)));
      const double root = std::sqrt(weight * std::max(chance * (1.0 - chance), kLeastSpread));
      missed[i] = weight * ((first ? 1.0 : 0.0) - chance) / root;
      for (std::size_t m = 0; m < features; ++m) scaled[i * features + m] = root * row[m];
    }
    std::ranges::fill(sums, 0.0);
    double* slope = sums.data() + layout.cross();
    products.add(static_cast<std::int64_t>(count), scaled.data(), missed.data(), sums.data());
    for (std::size_t m = 0; m < features; ++m) slope[m] -= kGateRidge * odds[m];
    auto change = solve_policy(layout, sums, kGateRidge);
    double size = 0.0;
    for (const double one : change) size = std::max(size, std::abs(one));
    const double scale = size > kLargeStep ? kLargeStep / size : 1.0;
    for (std::size_t m = 0; m < features; ++m) odds[m] += scale * change[m];
    if (size < kSmallStep) break;
  }
  return odds;
}

}  // namespace kindred
