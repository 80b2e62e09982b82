// How trajectories become minibatches, and how clusters in latent space are merged.
#include "kindred/latent/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kindred/latent/merge_codes.h"
#include "tests/clustering/synthetic.h"

namespace kindred::latent {
namespace {

using kindred::testing::gridworld;
using kindred::testing::linear_control;
using kindred::testing::without_interning;
using ::testing::ElementsAre;

std::vector<std::int64_t> batch_at(BatchOrder& order, std::int64_t number) {
  const auto batch = order[number];
  return {batch.begin(), batch.end()};
}

TEST(BatchOrder, VisitsEveryTrajectoryOnceAnEpoch) {
  const auto data = gridworld("takeball", 12);  // 48 trajectories
  BatchOrder order(data, 8, 4, 0, 1, 0);
  ASSERT_EQ(order.per_epoch(), 6);
  std::multiset<std::int64_t> seen;
  for (std::int64_t b = 0; b < 6; ++b)
    for (const auto episode : batch_at(order, b)) seen.insert(episode);
  EXPECT_EQ(seen.size(), 48U);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 48U);
}

TEST(BatchOrder, ABatchDoesNotDependOnWhatWasAskedBefore) {
  const auto data = gridworld("takeball", 12);
  BatchOrder straight(data, 8, 4, 0, 1, 0);
  BatchOrder jumping(data, 8, 4, 0, 1, 0);
  const auto later = batch_at(jumping, 17);
  for (std::int64_t b = 0; b < 17; ++b) batch_at(straight, b);
  EXPECT_EQ(batch_at(straight, 17), later);
  EXPECT_NE(batch_at(straight, 11), later);
  BatchOrder other(data, 8, 4, 0, 1, 1);
  EXPECT_NE(batch_at(other, 17), later);
}

TEST(BatchOrder, SortingByLengthLeavesLessToPad) {
  const auto data = gridworld("takeball", 200);
  const auto inputs = NetworkInputs::from(data.observations, false);
  const StepSource source(data, inputs, data.actions.count());
  const auto padding = [&](std::int64_t pool) {
    BatchOrder order(data, 16, pool, 0, 1, 0);
    MiniBatch batch;
    std::int64_t sum = 0;
    for (std::int64_t b = 0; b < order.per_epoch(); ++b) {
      source.fill(order[b], 16, Workers(1), batch);
      sum += batch.padding();
    }
    return sum;
  };
  EXPECT_LT(2 * padding(8), padding(1));
}

TEST(StepSource, KeepsWhatRepeatsOnce) {
  const auto data = gridworld("diagonal", 20);
  const auto inputs = NetworkInputs::from(data.observations, false);
  const StepSource source(data, inputs, data.actions.count());
  const auto plain = without_interning(data);
  const StepSource plain_source(plain, inputs, data.actions.count());
  const std::vector<std::int64_t> episodes = {3, 50, 99, 7, 20};
  MiniBatch batch, plain_batch;
  source.fill(episodes, 2, Workers(2), batch);
  plain_source.fill(episodes, 2, Workers(1), plain_batch);
  ASSERT_EQ(batch.parts.size(), 3U);
  EXPECT_EQ(batch.episodes, plain_batch.episodes);
  const auto width = static_cast<std::size_t>(inputs.count() + data.actions.count());
  for (std::size_t p = 0; p < batch.parts.size(); ++p) {
    const auto& part = batch.parts[p];
    const auto& whole = plain_batch.parts[p];
    EXPECT_TRUE(std::ranges::is_sorted(part.lengths, std::ranges::greater{}));
    EXPECT_LT(part.pairs.size(), whole.pairs.size());
    for (std::size_t s = 0; s < part.pair_of_step.size(); ++s) {
      const auto row = static_cast<std::size_t>(part.pair_of_step[s]);
      ASSERT_TRUE(std::equal(part.pairs.begin() + static_cast<std::ptrdiff_t>(row * width),
                             part.pairs.begin() + static_cast<std::ptrdiff_t>((row + 1) * width),
                             whole.pairs.begin() + static_cast<std::ptrdiff_t>(s * width)));
      ASSERT_EQ(part.discrete_actions[s], whole.discrete_actions[s]);
    }
  }
}

TEST(StepSource, PacksLongestFirstAndTimeMajor) {
  const auto data = linear_control({.episodes = 3, .length = 4, .obs_dim = 1, .act_dim = 1});
  const auto inputs = NetworkInputs::from(data.observations, true);  // lengths 4, 3, 2
  const StepSource source(data, inputs, 1);
  MiniBatch batch;
  source.fill(std::vector<std::int64_t>{2, 0, 1}, 16, Workers(1), batch);
  EXPECT_THAT(batch.episodes, ElementsAre(0, 1, 2));
  EXPECT_THAT(batch.parts[0].lengths, ElementsAre(4, 3, 2));
  EXPECT_THAT(batch.parts[0].time_offsets, ElementsAre(0, 3, 6, 8, 9));
  EXPECT_EQ(batch.steps(), 9);
  EXPECT_EQ(batch.padding(), 3);
  EXPECT_EQ(batch.parts[0].continuous_actions[4], data.actions.floats()[4 + 1]);
}

Matrix rows(std::vector<double> values) {
  Matrix matrix(static_cast<std::int64_t>(values.size()), 1);
  matrix.values = std::move(values);
  return matrix;
}

TEST(MergeCodes, JoinsTheClustersThatCostLeast) {
  // Two neighbours near 0 and one far away; code 2 is empty.
  const auto latents = rows({0.0, 0.0, 1.0, 1.0, 9.0});
  const auto merged = merge_codes(latents, {0, 0, 1, 1, 3}, 4, 2, -1.0, 2.0);
  EXPECT_THAT(merged.cluster_of_code, ElementsAre(0, 0, -1, 1));
  ASSERT_EQ(merged.steps.size(), 1U);
  EXPECT_EQ(merged.steps[0].from, 1);
  EXPECT_EQ(merged.steps[0].into, 0);
  // 2·2/(2+2)·1² = 1 more squared distance over five trajectories, twice.
  EXPECT_DOUBLE_EQ(merged.steps[0].objective, -1.0 - 2.0 * 1.0 / 5.0);
}

TEST(MergeCodes, SmallClustersAreCheaperToJoin) {
  // Equal gaps: Ward's rule joins the two small clusters, not the large one.
  const auto latents = rows({0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 4.0});
  const auto merged = merge_codes(latents, {0, 0, 0, 0, 0, 0, 1, 2}, 3, 2, 0.0, 1.0);
  EXPECT_THAT(merged.cluster_of_code, ElementsAre(0, 1, 1));
}

TEST(MergeCodes, NothingToMerge) {
  const auto merged = merge_codes(rows({0.0, 1.0}), {1, 0}, 2, 2, 0.5, 1.0);
  EXPECT_TRUE(merged.steps.empty());
  EXPECT_THAT(merged.cluster_of_code, ElementsAre(0, 1));
}

}  // namespace
}  // namespace kindred::latent
