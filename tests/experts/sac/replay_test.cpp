// What is remembered, what is forgotten, and what a checkpoint may bring back.
#include "kindred/experts/sac/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kindred/core/error.h"

namespace kindred::sac {
namespace {

using ::testing::ElementsAre;

void add(Replay& replay, float number) {
  const std::vector<float> observation = {number, number + 0.1F}, action = {number + 0.2F},
                           next = {number + 0.3F, number + 0.4F};
  replay.add({observation, action, next, number + 0.5F, number > 2.0F});
}

TEST(Replay, RemembersTheLatestSteps) {
  Replay replay(3, 2, 1);
  EXPECT_EQ(replay.size(), 0);
  for (const float number : {0.0F, 1.0F, 2.0F, 3.0F}) add(replay, number);
  ASSERT_EQ(replay.size(), 3);
  const auto newest = replay[0];  // where the oldest was
  EXPECT_THAT(newest.observation, ElementsAre(3.0F, 3.1F));
  EXPECT_THAT(newest.action, ElementsAre(3.2F));
  EXPECT_THAT(newest.next, ElementsAre(3.3F, 3.4F));
  EXPECT_EQ(newest.reward, 3.5F);
  EXPECT_TRUE(newest.terminal);
  EXPECT_EQ(replay[1].reward, 1.5F);
  EXPECT_FALSE(replay[2].terminal);
}

TEST(Replay, GoesOnAfterACheckpoint) {
  Replay replay(3, 2, 1), copy(3, 2, 1);
  for (const float number : {0.0F, 1.0F, 2.0F, 3.0F}) add(replay, number);
  copy.restore(replay.rows(), replay.next());
  add(replay, 4.0F);
  add(copy, 4.0F);
  EXPECT_EQ(copy.rows(), replay.rows());
  EXPECT_EQ(copy[1].reward, 4.5F);
}

TEST(Replay, RefusesRowsOfAnother) {
  Replay replay(3, 2, 1);
  EXPECT_THROW(replay.restore(std::vector<float>(8), 0), DataFormatError);
  EXPECT_THROW(replay.restore(std::vector<float>(4 * 7), 0), DataFormatError);
  EXPECT_THROW(replay.restore(std::vector<float>(7), 2), DataFormatError);
  EXPECT_THROW(replay.restore(std::vector<float>(7), -1), DataFormatError);
}

}  // namespace
}  // namespace kindred::sac
