#include "kindred/methods/policy_search/partition_judge.h"

#include <gtest/gtest.h>

#include "tests/clustering/synthetic.h"
#include "tests/methods/boards.h"

namespace kindred::policy_search {
namespace {

namespace testing = kindred::testing;

/// Policies predict better and conflict, whatever they are made of; halves of their episodes do
/// neither, and halves of one policy's episodes do not conflict.
TEST(PartitionJudge, BelievesPoliciesAndNotChance) {
  for (const auto& data : {testing::linear_control({.episodes = 40, .policies = 2}),
                           testing::repeating_choices(80, 2, 1)}) {
    PartitionJudge judge(data, *episodes_to_judge(data), Workers());
    const auto one = judge.judge_one();
    auto two = judge.judge(data.labels.span());
    EXPECT_TRUE(judge.believes(two, one.held_out.v));
    EXPECT_GE(two.conflict, Rules{}.different);
    ASSERT_EQ(two.pairs.size(), 1U);
    EXPECT_EQ(two.pairs.front().relation, Relation::kDifferent);
    std::vector<std::int32_t> halves(static_cast<std::size_t>(data.episodes()), 0);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = i / 2 % 2;
    auto by_chance = judge.judge(halves);
    EXPECT_FALSE(judge.believes(by_chance, by_chance.held_out.v - 1.0));
    EXPECT_LT(by_chance.conflict, Rules{}.different);
  }
}

/// Whoever made a partition, networks that have not seen an episode say how well it predicts.
TEST(PartitionJudge, TellsPoliciesFromChanceOnPlanes) {
  const auto data = testing::boards(400, true);
  ASSERT_TRUE(judged_on_planes(data));
  const auto truth = judge_partition(data, data.labels.span(), Workers());
  std::vector<std::int32_t> halves(400, 0);
  for (std::size_t i = 200; i < 400; ++i) halves[i] = 1;
  const auto chance = judge_partition(data, halves, Workers());
  ASSERT_TRUE(truth && chance);
  EXPECT_EQ(truth->v_of_one, chance->v_of_one);
  EXPECT_GT(truth->v, truth->v_of_one);
  EXPECT_GT(truth->gain, 3.0 * truth->gain_error);
  EXPECT_LT(chance->v, chance->v_of_one);
  EXPECT_EQ(truth->judged, 400);

  PartitionJudge judge(data, *episodes_to_judge(data), Workers());
  const auto one = judge.judge_one();
  auto two = judge.judge(data.labels.span());
  EXPECT_TRUE(judge.believes(two, one.held_out.v));
  auto by_chance = judge.judge(halves);
  EXPECT_FALSE(judge.believes(by_chance, one.held_out.v));
}

}  // namespace
}  // namespace kindred::policy_search
