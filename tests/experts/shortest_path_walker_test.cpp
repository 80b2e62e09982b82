#include "tests/experts/shortest_path_walker.h"

#include <gtest/gtest.h>

#include "kindred/envs/extra.h"
#include "kindred/experts/rollout.h"
#include "tests/experts/extra_rates.h"

namespace kindred {
namespace {

const Policies kWalker = {std::make_shared<ShortestPathWalker>()};

TEST(ShortestPathWalker, NeedsNoStepTooMany) {
  const Extra environment({.slip = 0.0});
  const auto data = rollout(environment, kWalker, {.per_expert = 500, .seed = 1});
  std::vector<float> observation(static_cast<std::size_t>(data.observations.dim()));
  std::vector<std::int32_t> distances(81);
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    data.observations.copy(data.offsets[i], data.offsets[i] + 1, observation.data());
    const auto map = decode_extra(observation);
    walking_distances(map, map.agent, distances);
    EXPECT_EQ(data.length(i), distances[map.index(map.goal)]);
  }
}

TEST(ShortestPathWalker, ChoosesEvenlyAmongTheBestMoves) {
  ExtraMap map(7);
  for (int i = 0; i < 7; ++i)
    for (const Cell cell : {Cell{0, i}, Cell{6, i}, Cell{i, 0}, Cell{i, 6}})
      map.walls[map.index(cell)] = 1;
  map.agent = {1, 1};
  map.goal = {5, 5};
  std::vector<float> observation(std::size_t{7} * 7 * 5), moves(kMoves);
  paint(map, {}, observation);
  kWalker[0]->distribution({1, {}, observation}, moves);
  EXPECT_EQ(moves, (std::vector{0.0f, 0.5f, 0.0f, 0.5f, 0.0f}));
}

// By exact computation on 500 maps: 100% reach the goal, 1.8% visit both special cells and 21.1% at
// least one.
TEST(ShortestPathWalker, ReachesTheGoalAndMeetsSpecialCellsByChance) {
  const auto rates =
      extra_rates(rollout(Extra(), kWalker, {.per_expert = 10000, .seed = 2}), /*label=*/0);
  EXPECT_GT(rates.goal, 0.95);
  EXPECT_NEAR(rates.both, 0.018, 0.01);
  EXPECT_NEAR(rates.any, 0.211, 0.03);
}

}  // namespace
}  // namespace kindred
