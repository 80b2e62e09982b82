#include "kindred/policies/state_gate.h"

#include <algorithm>
#include <cmath>

#include "kindred/nn/vectorise.h"
#include "kindred/policies/exact_policies.h"

namespace kindred {
namespace {

constexpr double kGateRidge = 1.0;
constexpr int kMostSteps = 7;
constexpr double kSmallStep = 5e-2, kLargeStep = 10.0;
constexpr double kLeastSpread = 1e-6;

/// Adds Σwφφᵀ (lower triangle) and Σmφ of four rows.
KINDRED_VECTORISE
void add_four(std::int64_t features, const double* __restrict rows, const double* __restrict spread,
              const double* __restrict missed, double* __restrict gram, double* __restrict slope) {
  const double *p0 = rows, *p1 = p0 + features, *p2 = p1 + features, *p3 = p2 + features;
  for (std::int64_t m = 0; m < features; ++m) {
    const double s0 = spread[0] * p0[m], s1 = spread[1] * p1[m], s2 = spread[2] * p2[m],
                 s3 = spread[3] * p3[m];
    for (std::int64_t l = 0; l <= m; ++l)
      gram[l] += s0 * p0[l] + s1 * p1[l] + s2 * p2[l] + s3 * p3[l];
    gram += m + 1;
    slope[m] += missed[0] * p0[m] + missed[1] * p1[m] + missed[2] * p2[m] + missed[3] * p3[m];
  }
}

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
  for (int step = 0; step < kMostSteps; ++step) {
    std::ranges::fill(sums, 0.0);
    double* slope = sums.data() + layout.cross();
    for (std::size_t i = 0; i + 4 <= count; i += 4) {
      double spread[4], missed[4];
      for (std::size_t r = 0; r < 4; ++r) {
        const bool first = i + r < static_cast<std::size_t>(sample.firsts);
        const double weight = first ? sample.first_weight : sample.second_weight;
        const double chance =
            1.0 / (1.0 + std::exp(-dot(odds, sample.rows.data() + (i + r) * features)));
        spread[r] = weight * std::max(chance * (1.0 - chance), kLeastSpread);
        missed[r] = weight * ((first ? 1.0 : 0.0) - chance);
      }
      add_four(sample.features, sample.rows.data() + i * features, spread, missed, sums.data(),
               slope);
    }
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
