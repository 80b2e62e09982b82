#include "kindred/experts/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kindred/core/error.h"

namespace kindred {
namespace {

TEST(DrawDiscrete, FollowsTheProbabilities) {
  const std::vector<float> probabilities = {0.5f, 0.0f, 0.3f, 0.2f, 0.0f};
  std::vector<double> share(5, 0.0);
  Random random(1);
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i)
    share[static_cast<std::size_t>(draw_discrete(probabilities, random))] += 1.0 / kDraws;
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_NEAR(share[i], static_cast<double>(probabilities[i]), 0.01);
  EXPECT_EQ(share[1], 0.0);
  EXPECT_EQ(share[4], 0.0);
}

TEST(DrawDiscrete, CertaintyIsCertain) {
  Random random(2);
  for (int i = 0; i < 10000; ++i)
    ASSERT_EQ(draw_discrete(std::vector{0.0f, 0.0f, 1.0f, 0.0f}, random), 2);
}

TEST(DrawContinuous, HasTheMeanAndDeviationAsked) {
  const std::vector<float> gaussian = {1.0f, -2.0f, 0.5f, 3.0f};
  Random random(3);
  std::vector<float> action(2);
  std::vector<double> sum(2), squares(2);
  constexpr int kDraws = 50000;
  for (int i = 0; i < kDraws; ++i) {
    draw_continuous(gaussian, random, action);
    for (std::size_t d = 0; d < 2; ++d) {
      sum[d] += static_cast<double>(action[d]) / kDraws;
      squares[d] += static_cast<double>(action[d]) * static_cast<double>(action[d]) / kDraws;
    }
  }
  EXPECT_NEAR(sum[0], 1.0, 0.02);
  EXPECT_NEAR(sum[1], -2.0, 0.08);
  EXPECT_NEAR(std::sqrt(squares[0] - sum[0] * sum[0]), 0.5, 0.02);
  EXPECT_NEAR(std::sqrt(squares[1] - sum[1] * sum[1]), 3.0, 0.06);
}

TEST(GaussianLogDensity, MatchesTheFormula) {
  const std::vector<float> gaussian = {1.0f, -2.0f, 0.5f, 4.0f};
  const std::vector<float> action = {2.0f, -2.0f};
  // Two deviations from the first mean, none from the second.
  const double expected = -2.0 - std::log(0.5) - std::log(4.0) - std::log(2.0 * std::numbers::pi);
  EXPECT_NEAR(gaussian_log_density(gaussian, action), expected, 1e-12);
}

TEST(GaussianLogDensity, OfACertainActionIsFinite) {
  const std::vector<float> certain = {0.5F, 0.0F};
  const std::vector<float> same = {0.5F}, other = {0.6F};
  EXPECT_NEAR(gaussian_log_density(certain, same),
              -std::log(1e-4) - 0.5 * std::log(2.0 * std::numbers::pi), 1e-12);
  EXPECT_LT(gaussian_log_density(certain, other), -1e5);
  EXPECT_TRUE(std::isfinite(gaussian_log_density(certain, other)));
}

/// Of one number: the mean, one deviation of 1 and where it is.
double clipped_density(float mean, float action) {
  return gaussian_log_density(std::vector{mean, 1.0f}, std::vector{action}, true);
}

/// Also beyond 30 deviations, where a series takes over before the probability underflows.
TEST(GaussianLogDensity, AtALimitCountsAllBeyond) {
  for (double z = -8.0; z < 37.0; z += 0.25) {
    const double expected = std::log(0.5 * std::erfc(z / std::numbers::sqrt2));
    const double tolerance = z < 30.0 ? 1e-9 : 3e-8;
    EXPECT_NEAR(clipped_density(static_cast<float>(1.0 - z), 1.0f), expected, tolerance) << z;
    EXPECT_NEAR(clipped_density(static_cast<float>(z - 1.0), -1.0f), expected, tolerance) << z;
  }
  EXPECT_NEAR(clipped_density(-999.0f, 1.0f),
              -500'000.0 - std::log(1000.0 * std::sqrt(2.0 * std::numbers::pi)), 1e-5);
}

TEST(GaussianLogDensity, InsideTheLimitsClippingDoesNotMatter) {
  const std::vector<float> gaussian = {0.3f, -2.0f, 0.5f, 4.0f};
  const std::vector<float> action = {0.999f, -0.5f};
  EXPECT_EQ(gaussian_log_density(gaussian, action, true), gaussian_log_density(gaussian, action));
}

/// One of the numbers at its limit, the other inside, under a deviation that is not 1.
TEST(GaussianLogDensity, MixesBothKinds) {
  const std::vector<float> gaussian = {0.5f, 0.25f, 0.25f, 0.5f};
  const double inside =
      -0.5 - std::log(0.5) - 0.5 * std::log(2.0 * std::numbers::pi);  // one deviation away
  const double beyond = std::log(0.5 * std::erfc(2.0 / std::numbers::sqrt2));
  EXPECT_NEAR(gaussian_log_density(gaussian, std::vector{1.0f, 0.75f}, true), inside + beyond,
              1e-12);
}

TEST(TabularPolicy, GivesTheRowsOfTheStatesAsked) {
  const TabularPolicy policy("p", "", 2, {0.25f, 0.75f, 1.0f, 0.0f});
  const std::vector<std::int32_t> states = {1, 0, 1};
  std::vector<float> out(6);
  policy.distribution({3, states, {}}, out);
  EXPECT_THAT(out, ::testing::ElementsAre(1.0f, 0.0f, 0.25f, 0.75f, 1.0f, 0.0f));
}

TEST(TabularPolicy, RowsMustBeDistributions) {
  EXPECT_THROW(TabularPolicy("p", "", 2, {0.5f, 0.6f}), InvalidArgument);
  EXPECT_THROW(TabularPolicy("p", "", 2, {-0.5f, 1.5f}), InvalidArgument);
  EXPECT_THROW(TabularPolicy("p", "", 2, {0.5f, 0.5f, 1.0f}), InvalidArgument);
}

}  // namespace
}  // namespace kindred
