// The fast functions against the standard library's in double precision.
#include "kindred/nn/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kindred {
namespace {

/// Calls check(x) all over [low, high], at both ends and close to zero.
template <class Check>
void sweep(float low, float high, const Check& check) {
  constexpr int kPoints = 400'000;
  for (int i = 0; i <= kPoints; ++i)
    check(low + (high - low) * static_cast<float>(i) / static_cast<float>(kPoints));
  for (float x = 1.0F; x > 1e-30F; x /= 3.0F) {
    check(x);
    check(-x);
  }
}

TEST(Elementwise, FastExpIsRightToTheLastBits) {
  double worst = 0.0;
  sweep(-87.0F, 87.0F, [&](float x) {
    const double expected = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(fast_exp(x)) - expected) / expected);
  });
  EXPECT_LT(worst, 2e-7);
}

TEST(Elementwise, FastExpSaturates) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fast_exp(100.0F), fast_exp(87.0F));
  EXPECT_EQ(fast_exp(kInfinity), fast_exp(87.0F));
  EXPECT_EQ(fast_exp(-100.0F), fast_exp(-87.0F));
  EXPECT_EQ(fast_exp(-kInfinity), fast_exp(-87.0F));
  EXPECT_EQ(fast_exp(0.0F), 1.0F);
  EXPECT_TRUE(std::isnan(fast_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Elementwise, SigmoidIsRightToTheLastBits) {
  double worst = 0.0;
  sweep(-87.0F, 87.0F, [&](float x) {
    const double expected = 1.0 / (1.0 + std::exp(-static_cast<double>(x)));
    worst = std::max(worst, std::abs(static_cast<double>(sigmoid(x)) - expected) / expected);
  });
  EXPECT_LT(worst, 3e-7);
  EXPECT_EQ(sigmoid(1000.0F), 1.0F);
  EXPECT_LT(sigmoid(-1000.0F), 1e-37F);
}

/// Absolutely: the difference of two numbers near one has no more digits than they have.
TEST(Elementwise, FastTanhIsRightToTheLastBitsOfOne) {
  double worst = 0.0;
  sweep(-50.0F, 50.0F, [&](float x) {
    const double expected = std::tanh(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(fast_tanh(x)) - expected));
  });
  EXPECT_LT(worst, 3e-7);
  EXPECT_EQ(fast_tanh(0.0F), 0.0F);
  EXPECT_EQ(fast_tanh(1000.0F), 1.0F);
  EXPECT_EQ(fast_tanh(-1000.0F), -1.0F);
}

TEST(Elementwise, SoftplusIsRightToTheLastBits) {
  double worst = 0.0;
  sweep(-80.0F, 80.0F, [&](float x) {
    const double expected = std::log1p(std::exp(static_cast<double>(x)));
    worst = std::max(worst, std::abs(static_cast<double>(softplus(x)) - expected) / expected);
  });
  EXPECT_LT(worst, 3e-7);
}

}  // namespace
}  // namespace kindred
