#include "kindred/segments/state_gate.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/vectorise.h"
#include "kindred/policies/episode_statistics.h"
#include "kindred/policies/exact_policies.h"

namespace kindred {
namespace {

constexpr double kGateRidge = 1.0;
constexpr int kMostSteps = 7;
// The first steps lead near the end by every fourth row, at a quarter of the cost.
constexpr int kRoughSteps = 4;
constexpr std::size_t kRoughStride = 4, kFewRows = 1000;
constexpr double kSmallStep = 5e-2, kLargeStep = 10.0;
constexpr double kLeastSpread = 1e-6;

constexpr std::size_t kAtOnce = 8;  // sums that do not wait for each other

/// ⟨weights, row⟩ of some rows, each sum in the order of its terms.
void dots(std::span<const double> weights, std::span<const float* const> rows, double* out) {
  for (std::size_t begin = 0; begin < rows.size(); begin += kAtOnce) {
    const float* row[kAtOnce];
    for (std::size_t r = 0; r < kAtOnce; ++r) row[r] = rows[std::min(begin + r, rows.size() - 1)];
    double sums[kAtOnce] = {};
    for (std::size_t i = 0; i < weights.size(); ++i)
      for (std::size_t r = 0; r < kAtOnce; ++r)
        sums[r] += weights[i] * static_cast<double>(row[r][i]);
    std::copy_n(sums, std::min(kAtOnce, rows.size() - begin), out + begin);
  }
}

KINDRED_VECTORISE
void scale(std::size_t n, float factor, const float* __restrict from, float* __restrict to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = factor * from[i];
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
  std::vector<const float*> rows;
  for (int step = 0; step < kMostSteps; ++step) {
    const auto apart = step < kRoughSteps && count > kFewRows ? kRoughStride : 1;
    // With rows times √w and what they miss over it, sums of products are Σwφφᵀ and Σmφ.
    for (std::size_t begin = 0; begin < count; begin += apart * StepProducts::kMostRows) {
      rows.clear();
      for (auto i = begin; i < std::min(count, begin + apart * StepProducts::kMostRows); i += apart)
        rows.push_back(sample.rows.data() + i * features);
      dots(odds, rows, log_odds);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        const bool first = begin + t * apart < static_cast<std::size_t>(sample.firsts);
        const double weight =
            static_cast<double>(apart) * (first ? sample.first_weight : sample.second_weight);
        const double chance = 1.0 / (1.0 + std::exp(-log_odds[t]));
        const double root = std::sqrt(weight * std::max(chance * (1.0 - chance), kLeastSpread));
        float* const scaled = products.float_rows() + t * stride;
        scale(features, static_cast<float>(root), rows[t], scaled);
        scaled[features] = static_cast<float>(weight * ((first ? 1.0 : 0.0) - chance) / root);
      }
      products.add_float_rows(std::ssize(rows));
    }
    products.finish(sums.data(), /*accumulate=*/false);
    double* slope = sums.data() + layout.cross();
    for (std::size_t m = 0; m < features; ++m) slope[m] -= kGateRidge * odds[m];
    auto change = solve_policy(layout, sums, kGateRidge);
    double size = 0.0;
    for (const double one : change) size = std::max(size, std::abs(one));
    const double shortened = size > kLargeStep ? kLargeStep / size : 1.0;
    for (std::size_t m = 0; m < features; ++m) odds[m] += shortened * change[m];
    if (size >= kSmallStep) continue;
    if (apart == 1) break;
    step = std::max(step, kRoughSteps - 1);
  }
  return odds;
}

}  // namespace kindred
