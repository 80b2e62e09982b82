#include "kindred/render/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kindred::render {
namespace {

using ::testing::ElementsAre;

TEST(Ticks, AreRoundNumbersWithinTheRange) {
  EXPECT_THAT(round_ticks({-1.05, 1.05}, 5).labels,
              ElementsAre("-1.0", "-0.5", "0.0", "0.5", "1.0"));
  EXPECT_THAT(round_ticks({0.0, 3789.4}, 5).labels, ElementsAre("0", "1000", "2000", "3000"));
  EXPECT_THAT(round_ticks({0.71, 1.83}, 4).labels, ElementsAre("1.0", "1.5"));
  EXPECT_THAT(round_ticks({-0.00012, 0.00025}, 4).labels,
              ElementsAre("-0.0001", "0.0000", "0.0001", "0.0002"));
}

TEST(Ticks, StandOnTheBordersToo) {
  EXPECT_THAT(round_ticks({0.1, 0.3}, 3).labels, ElementsAre("0.1", "0.2", "0.3"));
}

TEST(Ticks, OfVeryLargeAndVerySmallNumbersStayShortAndDifferent) {
  EXPECT_THAT(round_ticks({0.0, 5e7}, 3).labels, ElementsAre("0", "2e+07", "4e+07"));
  EXPECT_THAT(round_ticks({1e6, 1e6 + 4.0}, 3).labels,
              ElementsAre("1000000", "1000002", "1000004"));
  EXPECT_THAT(round_ticks({0.0, 3e-9}, 4).labels, ElementsAre("0", "1e-09", "2e-09", "3e-09"));
}

TEST(Ticks, OfCountsAreWholeNumbers) {
  EXPECT_THAT(whole_ticks({0.0, 3.5}, 9).values, ElementsAre(0.0, 1.0, 2.0, 3.0));
  EXPECT_THAT(whole_ticks({0.0, 0.5}, 9).values, ElementsAre(0.0));
  EXPECT_THAT(whole_ticks({0.0, 999.0}, 6).values, ElementsAre(0.0, 200.0, 400.0, 600.0, 800.0));
}

TEST(Range, IsNeverEmptyOncePadded) {
  const std::vector<double> constant = {3.0, 3.0};
  EXPECT_LT(range_of(constant).padded(0.05).low, 3.0);
  EXPECT_GT(range_of(constant).padded(0.05).high, 3.0);
  const std::vector<double> values = {2.0, -2.0, 0.0};
  EXPECT_EQ(range_of(values).padded(0.25).low, -3.0);
  EXPECT_EQ(range_of(values).padded(0.25).high, 3.0);
}

TEST(Scale, MayRunBackwards) {
  const Scale up{{0.0, 10.0}, 200.0, 100.0};
  EXPECT_EQ(up(0.0), 200.0);
  EXPECT_EQ(up(10.0), 100.0);
  EXPECT_EQ(up(2.5), 175.0);
}

}  // namespace
}  // namespace kindred::render
