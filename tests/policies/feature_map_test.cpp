#include "kindred/policies/feature_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "kindred/core/random.h"

namespace kindred {
namespace {

constexpr std::int64_t kNumbers = 7;

/// Observations of which the third number never varies and the last is far off once.
std::vector<float> rows_of(std::int64_t n) {
  Random random(3, "rows");
  std::vector<float> rows(static_cast<std::size_t>(n * kNumbers));
  for (auto& x : rows) x = static_cast<float>(2.0 + 4.0 * random.normal());
  for (std::size_t t = 0; t < static_cast<std::size_t>(n); ++t) rows[t * kNumbers + 2] = 0.5F;
  rows.back() = 1e4F;
  return rows;
}

TEST(FeatureMap, GivesAConstantTheNumbersAndTheirCosines) {
  const auto rows = rows_of(300);
  const auto observations = Observations::dense(rows, kNumbers);
  for (const std::int64_t cosines : {0, 1, 8, 13}) {
    const FeatureMap map(observations, cosines, 0.7);
    const auto& inputs = map.inputs();
    ASSERT_EQ(inputs.count(), kNumbers - 1);
    ASSERT_EQ(map.count(), 1 + kNumbers - 1 + cosines);
    std::vector<double> features(300 * static_cast<std::size_t>(map.count()));
    map.apply(rows, features);
    const double* feature = features.data();
    for (std::size_t t = 0; t < 300; ++t) {
      EXPECT_EQ(*feature++, 1.0);
      const double* number = feature;
      for (std::size_t i = 0; i < kNumbers - 1; ++i) {
        const float seen = rows[t * kNumbers + static_cast<std::size_t>(inputs.columns[i])];
        const double scaled = (seen - inputs.mean[i]) * inputs.scale[i];
        EXPECT_EQ(*feature++, std::clamp(scaled, -FeatureMap::kFarthest, FeatureMap::kFarthest));
      }
      for (std::int64_t c = 0; c < cosines; ++c) {
        double angle = map.phases()[static_cast<std::size_t>(c)];
        for (std::int64_t i = 0; i < kNumbers - 1; ++i)
          angle += number[i] * map.directions()[static_cast<std::size_t>(i * cosines + c)];
        EXPECT_NEAR(*feature++, std::numbers::sqrt2 * std::cos(angle), 1e-9);
      }
    }
  }
}

/// A step has the same features, bit by bit, whichever steps are around it and however far apart
/// rows lie.
TEST(FeatureMap, DoesNotDependOnTheRowsAround) {
  const auto rows = rows_of(150);
  const FeatureMap map(Observations::dense(rows, kNumbers), 13);
  const auto width = static_cast<std::size_t>(map.count()), stride = width + FeatureMap::kRoom + 4;
  std::vector<double> together(150 * width), apart(150 * stride), alone(width);
  map.apply(rows, together);
  map.apply(rows, apart.data(), static_cast<std::int64_t>(stride));
  for (std::size_t t = 0; t < 150; ++t) {
    const std::vector<double> expected(
        together.begin() + static_cast<std::ptrdiff_t>(t * width),
        together.begin() + static_cast<std::ptrdiff_t>((t + 1) * width));
    map.apply(std::span(rows).subspan(t * kNumbers, kNumbers), alone);
    EXPECT_EQ(alone, expected) << t;
    EXPECT_THAT(std::span(apart).subspan(t * stride, width), ::testing::ElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace kindred
