#include "kindred/policies/merge.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

/// Clusters 0 and 1 explain each other's trajectories almost as well as their own; 2 stands apart.
struct Case {
  Matrix scores{6, 3};
  std::vector<std::int32_t> labels = {0, 0, 1, 1, 2, 2};
  std::vector<std::uint8_t> alive = {1, 1, 1};

  Case() {
    const double rows[6][3] = {{-1, -2, -50}, {-1, -3, -60},  {-2, -1, -40},
                               {-2, -1, -45}, {-90, -80, -1}, {-70, -75, -1}};
    for (std::int64_t i = 0; i < 6; ++i)
      for (std::int64_t c = 0; c < 3; ++c) scores(i, c) = rows[i][c];
  }
};

TEST(Merge, LeastLossJoinsTheClustersThatExplainEachOther) {
  Case c;
  const auto steps = merge_clusters(c.scores, 2, MergeRule::kLeastLoss, c.labels, c.alive);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].from, 1);  // moving 1 into 0 costs 2, moving 0 into 1 costs 3
  EXPECT_EQ(steps[0].into, 0);
  EXPECT_EQ(c.labels, (std::vector<std::int32_t>{0, 0, 0, 0, 2, 2}));
  EXPECT_EQ(c.alive, (std::vector<std::uint8_t>{1, 0, 1}));
  EXPECT_DOUBLE_EQ(steps[0].objective, -1 - 1 - 2 - 2 - 1 - 1);
}

TEST(Merge, PrintedRuleJoinsTheLeastCompatiblePair) {
  Case c;
  const auto steps = merge_clusters(c.scores, 2, MergeRule::kPrinted, c.labels, c.alive);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].from, 2);  // Σ log P(D_2 | θ_0) = -160 is the least of all pairs
  EXPECT_EQ(steps[0].into, 0);
}

TEST(Merge, AccumulatesOverSeveralSteps) {
  Case c;
  const auto steps = merge_clusters(c.scores, 1, MergeRule::kLeastLoss, c.labels, c.alive);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(c.labels, std::vector<std::int32_t>(6, c.labels[0]));
  EXPECT_GE(steps[0].objective, steps[1].objective);
}

TEST(Merge, DeadClustersTakeNoPart) {
  Case c;
  c.labels = {0, 0, 0, 0, 2, 2};
  c.alive = {1, 0, 1};
  EXPECT_TRUE(merge_clusters(c.scores, 2, MergeRule::kLeastLoss, c.labels, c.alive).empty());
}

/// Trajectory 3 is impossible wherever it goes, so that every sum over cluster 1 is -inf: the
/// others still say that 2 belongs to 0.
TEST(Merge, WhatIsImpossibleAnywayDecidesNothing) {
  Case c;
  for (std::int64_t k = 0; k < 3; ++k) c.scores(3, k) = -std::numeric_limits<double>::infinity();
  c.scores(2, 0) = -500.0;
  c.scores(4, 0) = c.scores(5, 0) = -2.0;
  const auto steps = merge_clusters(c.scores, 2, MergeRule::kLeastLoss, c.labels, c.alive);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].from, 2);  // into 0 it loses 2; 0 into 1 would lose 3
  EXPECT_EQ(steps[0].into, 0);
}

TEST(Merge, AsFewTrajectoriesAsCanBeBecomeImpossible) {
  Case c;
  constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t k = 0; k < 3; ++k)
      if (k != c.labels[static_cast<std::size_t>(i)]) c.scores(i, k) = kImpossible;
  c.scores(4, 1) = -1000.0;  // one of the two of cluster 2 is possible in cluster 1
  const auto steps = merge_clusters(c.scores, 2, MergeRule::kLeastLoss, c.labels, c.alive);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].from, 2);
  EXPECT_EQ(steps[0].into, 1);
  EXPECT_EQ(steps[0].objective, kImpossible);
}

TEST(Merge, ImpossiblePairsCanStillBeMerged) {
  Case c;
  for (std::int64_t i = 0; i < 6; ++i)
    for (std::int64_t k = 0; k < 3; ++k)
      if (k != c.labels[static_cast<std::size_t>(i)])
        c.scores(i, k) = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(merge_clusters(c.scores, 1, MergeRule::kLeastLoss, c.labels, c.alive).size(), 2U);
}

}  // namespace
}  // namespace kindred
