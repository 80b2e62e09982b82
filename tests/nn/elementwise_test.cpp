// The fast functions against the standard library's in double precision.
#include "kindred/nn/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "kindred/core/random.h"

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

TEST(Elementwise, FastLogIsRightToTheLastBits) {
  const auto check = [](float x) {
    const double expected = std::log(static_cast<double>(x));
    ASSERT_NEAR(static_cast<double>(fast_log(x)), expected,
                3e-7 * std::max(1e-3, std::abs(expected)))
        << x;
  };
  for (float x = 1.2e-38F; x < 3e38F; x *= 1.0007F) check(x);
  sweep(0.5F, 2.0F, [&](float x) {
    if (x > 0.0F) check(x);
  });
  EXPECT_EQ(fast_log(1.0F), 0.0F);
}

TEST(Elementwise, CosinesOfHalfTurnsAreRightToTenDigits) {
  double worst = 0.0;
  sweep(-40.0F, 40.0F, [&](float half_turns) {
    const double x = static_cast<double>(half_turns) + 1e-9;
    const double expected = std::numbers::sqrt2 * std::cos(std::numbers::pi * x);
    worst = std::max(worst, std::abs(root_two_cosine(x) - expected));
  });
  EXPECT_LT(worst, 4e-10);
  EXPECT_NEAR(root_two_cosine(1e6 + 0.25), 1.0, 4e-10);
}

/// Rows apart, what lies between them untouched, far numbers brought near.
TEST(Elementwise, StandardisesRows) {
  constexpr std::int64_t kRows = 5, kColumns = 19, kIn = 21, kOut = 23;
  std::vector<float> in(kRows * kIn), mean(kColumns), scale(kColumns);
  Random random(7, "rows");
  for (auto* numbers : {&in, &mean, &scale})
    for (auto& x : *numbers) x = static_cast<float>(3.0 * random.normal());
  std::vector<double> out(kRows * kOut, -99.0);
  standardise_rows(kRows, kColumns, in.data(), kIn, mean.data(), scale.data(), 5.0F, out.data(),
                   kOut);
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t c = 0; c < kOut; ++c) {
      const float x = c < kColumns ? (in[r * kIn + c] - mean[c]) * scale[c] : 0.0F;
      EXPECT_EQ(out[r * kOut + c],
                c < kColumns ? static_cast<double>(std::clamp(x, -5.0F, 5.0F)) : -99.0);
    }
}

TEST(Elementwise, TransposesAnyShape) {
  for (const std::int64_t rows : {1, 16, 37})
    for (const std::int64_t columns : {1, 16, 50}) {
      std::vector<float> in(static_cast<std::size_t>(rows * columns)), out(in.size());
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
      transpose(rows, columns, in.data(), out.data());
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c)
          ASSERT_EQ(out[static_cast<std::size_t>(c * rows + r)],
                    in[static_cast<std::size_t>(r * columns + c)]);
    }
}

TEST(Elementwise, MixesLogProbabilities) {
  constexpr float kImpossible = -std::numeric_limits<float>::infinity();
  constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
  Random random(1, "mixture");
  std::vector<float> own, other;
  for (int i = 0; i < 1000; ++i) {
    own.push_back(static_cast<float>(-20.0 + 15.0 * random.normal()));
    other.push_back(static_cast<float>(-20.0 + 15.0 * random.normal()));
  }
  own.insert(own.end(), {kImpossible, -1.0F});
  other.insert(other.end(), {-1.0F, kImpossible});
  const auto mixed = [&](float floor) {
    auto x = own;
    mix_log_probs(static_cast<std::int64_t>(x.size()), std::log(0.95F), std::log(0.05F),
                  other.data(), floor, x.data());
    return x;
  };
  const auto free = mixed(kImpossible), floored = mixed(-5.0F);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const double expected = std::log(0.95 * std::exp(static_cast<double>(own[i])) +
                                     0.05 * std::exp(static_cast<double>(other[i])));
    ASSERT_NEAR(static_cast<double>(free[i]), expected, 3e-7 * std::max(1.0, std::abs(expected)));
    ASSERT_EQ(floored[i], std::max(-5.0F, free[i]));
  }
  own = {kImpossible, kNotANumber};
  other = {kImpossible, -1.0F};
  EXPECT_EQ(mixed(kImpossible), (std::vector<float>{kImpossible, kImpossible}));
  EXPECT_EQ(mixed(-5.0F), (std::vector<float>{-5.0F, -5.0F}));
}

/// Whole vectors and what is left over, at every length.
TEST(Elementwise, LoopsMatchTheirDefinitions) {
  Random random(1, "elementwise");
  for (std::int64_t n = 0; n < 70; ++n) {
    std::vector<float> x(static_cast<std::size_t>(n)), y(x.size());
    for (auto* values : {&x, &y})
      for (auto& value : *values) value = static_cast<float>(random.normal());
    auto squashed = x, slopes = y, sums = y;
    tanh_rows(n, squashed.data());
    tanh_gradient(n, squashed.data(), slopes.data());
    add_scaled(n, 0.5F, x.data(), sums.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double t = std::tanh(static_cast<double>(x[i]));
      ASSERT_NEAR(static_cast<double>(squashed[i]), t, 3e-7);
      ASSERT_NEAR(static_cast<double>(slopes[i]), static_cast<double>(y[i]) * (1.0 - t * t), 2e-6);
      ASSERT_FLOAT_EQ(sums[i], y[i] + 0.5F * x[i]);
    }
  }
}

TEST(Elementwise, LogProbsOfChoicesAreThoseOfASoftmax) {
  for (const std::int64_t columns : {1, 2, 9}) {
    Random random(static_cast<std::uint64_t>(columns), "logits");
    std::vector<float> logits(static_cast<std::size_t>(columns * kSideBySide)), found(kSideBySide);
    for (auto& x : logits) x = static_cast<float>(20.0 * random.normal());
    std::vector<std::int32_t> choices;
    for (std::int64_t s = 0; s < kSideBySide; ++s)
      choices.push_back(static_cast<std::int32_t>(s % columns));
    log_probs_of_choices(columns, logits.data(), choices.data(), found.data());
    for (std::int64_t s = 0; s < kSideBySide; ++s) {
      std::vector<float> row;
      for (std::int64_t c = 0; c < columns; ++c)
        row.push_back(logits[static_cast<std::size_t>(c * kSideBySide + s)]);
      log_softmax(1, columns, columns, row.data());
      const auto at = static_cast<std::size_t>(s);
      EXPECT_NEAR(found[at], row[static_cast<std::size_t>(choices[at])], 1e-4F);
    }
  }
}

}  // namespace
}  // namespace kindred
