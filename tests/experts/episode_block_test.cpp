#include "kindred/experts/episode_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;

/// Three episodes of 2, 3 and 1 steps; step i has state i and action (10 i, 10 i + 1).
EpisodeBlock three_episodes() {
  EpisodeBlock block;
  block.offsets = {0, 2, 5, 6};
  for (std::int32_t i = 0; i < 6; ++i) {
    block.steps.states.push_back(i);
    block.steps.continuous.push_back(static_cast<float>(10 * i));
    block.steps.continuous.push_back(static_cast<float>(10 * i + 1));
    block.steps.rewards.push_back(1.0f);
    block.steps.endings.push_back(i == 1 || i == 4 || i == 5 ? Ending::kTerminal : Ending::kNone);
  }
  return block;
}

TEST(KeepSteps, CutsInsideAnEpisode) {
  auto block = three_episodes();
  block.keep_steps(4);
  EXPECT_THAT(block.offsets, ElementsAre(0, 2, 4));
  EXPECT_EQ(block.episodes(), 2);
  EXPECT_THAT(block.steps.states, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(block.steps.continuous, ElementsAre(0, 1, 10, 11, 20, 21, 30, 31));
  EXPECT_EQ(block.steps.rewards.size(), 4U);
  EXPECT_THAT(block.steps.endings,
              ElementsAre(Ending::kNone, Ending::kTerminal, Ending::kNone, Ending::kTimeout));
  EXPECT_TRUE(block.steps.observations.empty());
}

TEST(KeepSteps, BetweenEpisodesNothingIsCut) {
  auto block = three_episodes();
  block.keep_steps(5);
  EXPECT_THAT(block.offsets, ElementsAre(0, 2, 5));
  EXPECT_EQ(block.steps.endings.back(), Ending::kTerminal);
}

TEST(KeepSteps, KeepsAllWhereThereAreNoMore) {
  for (const std::int64_t count : {6, 7, 100}) {
    auto block = three_episodes();
    block.keep_steps(count);
    EXPECT_THAT(block.offsets, ElementsAre(0, 2, 5, 6));
    EXPECT_EQ(block.steps.states.size(), 6U);
  }
}

TEST(KeepSteps, MayKeepOneOrNone) {
  auto block = three_episodes();
  block.keep_steps(1);
  EXPECT_THAT(block.offsets, ElementsAre(0, 1));
  EXPECT_THAT(block.steps.endings, ElementsAre(Ending::kTimeout));
  block.keep_steps(0);
  EXPECT_EQ(block.episodes(), 0);
  EXPECT_TRUE(block.steps.endings.empty());
}

/// An episode is the same whichever episodes run beside it.
TEST(RunEpisodes, EachDependsOnItsOwnStreamOnly) {
  const auto environment = make_environment("takeball");
  const auto expert = make_experts(*environment).front();
  const auto together = run_episodes(*environment, *expert, 1, 100, 20);
  ASSERT_EQ(together.episodes(), 20);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto alone = run_episodes(*environment, *expert, 1, 100 + i, 1);
    const auto begin = together.steps.states.begin() + together.offsets[i];
    const auto end = together.steps.states.begin() + together.offsets[i + 1];
    EXPECT_EQ(alone.steps.states, std::vector(begin, end));
    EXPECT_EQ(alone.steps.endings.back(),
              together.steps.endings[static_cast<std::size_t>(together.offsets[i + 1] - 1)]);
  }
}

}  // namespace
}  // namespace kindred
