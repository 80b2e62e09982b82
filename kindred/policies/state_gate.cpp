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

constexpr std::size_t kAtOnce = 8;  // sums that do not wait for each other

/// ⟨weights, row⟩ of n rows one after the other, each sum in the order of its terms.
void dots(std::span<const double> weights, std::size_t n, const double* rows, double* out) {
  const auto width = weights.size();
  for (std::size_t begin = 0; begin < n; begin += kAtOnce) {
    const double* row[kAtOnce];
    for (std::size_t r = 0; r < kAtOnce; ++r) row[r] = rows + std::min(begin + r, n - 1) * width;
    double sums[kAtOnce] = {};
    for (std::size_t i = 0; i < width; ++i)
      for (std::size_t r = 0; r < kAtOnce; ++r) sums[r] += weights[i] * row[r][i];
    std::copy_n(sums, std::min(kAtOnce, n - begin), out + begin);
  }
}

}  // namespace

std::vector<double> fit_log_odds(const TwoKinds& sample) {
  const auto features = static_cast<std::size_t>(sample.features);
  const StatisticsLayout layout{sample.features, 1};
  std::vector<double> odds(features, 0.0), sums(static_cast<std::size_t>(layout.size()));
  const auto count = sample.rows.size() / features;
  StepProducts products(layout, ProductsAs::kFloats);
  const auto stride = static_cast<std::size_t>(products.stride());
  double log_odds[StepProducts::kMostRows];
  for (int step = 0; step < kMostSteps; ++step) {
    // With rows times √w and what they miss over it, sums of products are Σwφφᵀ and Σmφ.
    for (std::size_t begin = 0; begin < count; begin += StepProducts::kMostRows) {
      const auto n = std::min<std::size_t>(StepProducts::kMostRows, count - begin);
      const double* row = sample.rows.data() + begin * features;
      dots(odds, n, row, log_odds);
      for (std::size_t t = 0; t < n; ++t, row += features) {
        const bool first = begin + t < static_cast<std::size_t>(sample.firsts);
        const double weight = first ? sample.first_weight : sample.second_weight;
        const double chance = 1.0 / (1.0 + std::exp(-log_odds[t]));
        const double root = std::sqrt(weight * std::max(chance * (1.0 - chance), kLeastSpread));
        for (std::size_t m = 0; m < features; ++m) products.rows()[t * stride + m] = root * row[m];
        products.targets()[t * stride] = weight * ((first ? 1.0 : 0.0) - chance) / root;
      }
      products.add_rows(static_cast<std::int64_t>(n));
    }
    products.finish(sums.data(), /*accumulate=*/false);
    double* slope = sums.data() + layout.cross();
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
