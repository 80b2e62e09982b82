#include "kindred/core/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

namespace kindred {
namespace {

std::vector<std::uint64_t> first(Random random, int count) {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < count; ++i) values.push_back(random());
  return values;
}

// The expected numbers come from a separate implementation in Python.
TEST(Random, YieldsTheSameNumbersEverywhere) {
  using ::testing::ElementsAre;
  EXPECT_THAT(first(Random(0), 3),
              ElementsAre(0x11ea5d71ab27f4bfULL, 0xcc84b97bd65164deULL, 0x99539b09e7f2eab2ULL));
  EXPECT_THAT(first(Random(42, "init", 3), 3),
              ElementsAre(0xb2c15ef3a8418654ULL, 0xf4bcdbea337df8f8ULL, 0x8fa782dbe3ad6358ULL));
  EXPECT_THAT(first(Random(std::numeric_limits<std::uint64_t>::max(), "shuffle"), 3),
              ElementsAre(0x0943465b15cb5a6bULL, 0x625970dba43c9b50ULL, 0x71831b08f99acfe3ULL));

  Random random(42, "init", 3);
  EXPECT_EQ(random.uniform(), 0.6982631058565456);
  EXPECT_EQ(random.uniform(), 0.9560067602901582);

  std::vector<int> order(8);
  std::iota(order.begin(), order.end(), 0);
  Random(42, "shuffle").shuffle(std::span(order));
  EXPECT_THAT(order, ElementsAre(0, 6, 5, 2, 4, 3, 1, 7));
}

TEST(Random, StreamsOfOtherSeedsNamesAndIndicesDiffer) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (const char* name : {"", "init", "shuffle", "init "})
      for (std::uint64_t index = 0; index < 25; ++index)
        for (const auto value : first(Random(seed, name, index), 4)) seen.insert(value);
  EXPECT_EQ(seen.size(), 10u * 4u * 25u * 4u);
}

TEST(Random, NeighbouringStreamsAreUncorrelated) {
  constexpr int kDraws = 20'000;
  for (std::uint64_t index = 0; index < 5; ++index) {
    Random a(7, "stream", index), b(7, "stream", index + 1);
    double product = 0.0;
    for (int i = 0; i < kDraws; ++i) product += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    const double correlation = 12.0 * product / kDraws;
    EXPECT_LT(std::abs(correlation), 5.0 / std::sqrt(kDraws));
  }
}

TEST(Random, UniformAndBelowStayInTheirRanges) {
  Random random(1, "range");
  double sum = 0.0;
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70'000; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
    const double shifted = random.uniform(-3.0, -1.0);
    ASSERT_GE(shifted, -3.0);
    ASSERT_LT(shifted, -1.0);
    ++counts.at(random.below(7));
  }
  EXPECT_NEAR(sum / 70'000, 0.5, 0.01);
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, NormalHasTheMomentsOfANormal) {
  Random random(2, "normal");
  constexpr int kDraws = 200'000;
  double mean = 0.0, square = 0.0, fourth = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    ASSERT_TRUE(std::isfinite(x));
    mean += x / kDraws;
    square += x * x / kDraws;
    fourth += x * x * x * x / kDraws;
  }
  EXPECT_NEAR(mean, 0.0, 0.01);
  EXPECT_NEAR(square, 1.0, 0.02);
  EXPECT_NEAR(fourth, 3.0, 0.15);
}

TEST(Random, ShuffleKeepsTheValuesAndUsesEveryOrder) {
  Random random(3, "shuffle");
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 500; ++i) {
    std::vector<int> values = {1, 2, 3, 4};
    random.shuffle(std::span(values));
    orders.insert(values);
    std::ranges::sort(values);
    ASSERT_THAT(values, ::testing::ElementsAre(1, 2, 3, 4));
  }
  EXPECT_EQ(orders.size(), 24u);
  std::vector<int> nothing;
  random.shuffle(std::span(nothing));
}

}  // namespace
}  // namespace kindred
