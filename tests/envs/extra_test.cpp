// Extra by its specification: the maps it draws, what is seen, moved and rewarded.
#include "kindred/envs/extra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "kindred/core/error.h"
#include "kindred/envs/registry.h"
#include "tests/envs/grid_checks.h"
#include "tests/envs/playing.h"

namespace kindred {
namespace {

std::vector<Cell> specials(const ExtraMap& map) {
  std::vector<Cell> cells;
  for (const auto& cell : map.special)
    if (cell) cells.push_back(*cell);
  return cells;
}

/// A map from its rows: '#' wall, 'A' agent, 'G' goal, '0' and '1' special cells.
ExtraMap map_of(const std::vector<std::string>& rows) {
  ExtraMap map(static_cast<int>(rows.size()));
  for (int row = 0; row < map.size; ++row)
    for (int column = 0; column < map.size; ++column) {
      const Cell cell = {row, column};
      const char letter = rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
      map.walls[map.index(cell)] = letter == '#';
      if (letter == 'A') map.agent = cell;
      if (letter == 'G') map.goal = cell;
      if (letter == '0') map.special[0] = cell;
      if (letter == '1') map.special[1] = cell;
    }
  return map;
}

const std::vector<std::string> kRows = {
    "#######",  //
    "#A   0#",  //
    "#    ##",  //
    "#  1  #",  //
    "###   #",  //
    "#    G#",  //
    "#######",
};

/// The moves of a shortest walk that enters none of `avoided`, or nothing when there is no walk.
std::optional<std::vector<Move>> shortest_walk(const ExtraMap& map, Cell from, Cell to,
                                               const std::vector<Cell>& avoided) {
  std::map<std::pair<int, int>, std::vector<Move>> walks = {{{from.row, from.column}, {}}};
  std::deque<Cell> queue = {from};
  for (; !queue.empty(); queue.pop_front()) {
    const Cell cell = queue.front();
    const auto walk = walks[{cell.row, cell.column}];
    if (cell == to) return walk;
    for (const Move move : {Move::kUp, Move::kDown, Move::kLeft, Move::kRight}) {
      const Cell next = neighbour(cell, move);
      if (map.is_wall(next) || std::ranges::find(avoided, next) != avoided.end()) continue;
      auto longer = walk;
      longer.push_back(move);
      if (walks.emplace(std::pair(next.row, next.column), longer).second) queue.push_back(next);
    }
  }
  return std::nullopt;
}

struct MapCase {
  int size, obstacles, maps;
};

class ExtraMaps : public ::testing::TestWithParam<MapCase> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ExtraMaps,
                         ::testing::Values(MapCase{9, 5, 5000}, MapCase{7, 5, 2000},
                                           MapCase{7, 0, 500}, MapCase{7, 8, 300},
                                           MapCase{9, 16, 500}, MapCase{12, 33, 100},
                                           MapCase{33, 320, 2}),
                         [](const auto& tested) {
                           return "size" + std::to_string(tested.param.size) + "obstacles" +
                                  std::to_string(tested.param.obstacles);
                         });

TEST_P(ExtraMaps, AreValid) {
  const auto [size, obstacles, maps] = GetParam();
  const Grid grid(size);
  ExtraMapDrawer drawer(size, obstacles);
  Random random(1);
  for (int drawn = 0; drawn < maps; ++drawn) {
    const ExtraMap& map = drawer.draw(random);
    ASSERT_EQ(specials(map).size(), 2u);
    const std::vector<Cell> placed = {map.agent, map.goal, *map.special[0], *map.special[1]};
    for (std::size_t i = 0; i < placed.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) ASSERT_NE(placed[i], placed[j]);
      for (const Move move : kAllMoves) {
        const Cell beside = neighbour(placed[i], move);
        ASSERT_EQ(map.is_wall(beside), grid.is_wall(beside));
      }
    }
    int inner = 0;
    for (int row = 0; row < size; ++row)
      for (int column = 0; column < size; ++column) {
        const bool in_ring = grid.is_wall({row, column});
        ASSERT_TRUE(map.is_wall({row, column}) || !in_ring);
        inner += map.is_wall({row, column}) && !in_ring;
      }
    ASSERT_EQ(inner, obstacles);
    ASSERT_TRUE(shortest_walk(map, map.agent, map.goal, {}));
    for (const Cell special : specials(map))
      ASSERT_TRUE(shortest_walk(map, map.agent, special, {map.goal}));
  }
}

TEST(ExtraMaps, EverythingCanBeAnywhere) {
  ExtraMapDrawer drawer(9, 5);
  Random random(2);
  std::array<std::set<std::size_t>, 5> seen;  // of the agent, the goal, the special cells, walls
  for (int drawn = 0; drawn < 3000; ++drawn) {
    const ExtraMap& map = drawer.draw(random);
    const std::array placed = {map.agent, map.goal, *map.special[0], *map.special[1]};
    for (std::size_t i = 0; i < placed.size(); ++i) seen[i].insert(map.index(placed[i]));
    for (std::size_t i = 0; i < map.walls.size(); ++i)
      if (map.walls[i]) seen[4].insert(i);
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(seen[i].size(), 49u);
  EXPECT_EQ(seen[4].size(), 81u);
}

TEST(ExtraMap, DistancesAreThoseOfTheShortestWalk) {
  const auto map = map_of(kRows);
  std::vector<std::int32_t> distances(map.walls.size());
  const auto to = [&](Cell cell) { return distances[map.index(cell)]; };
  walking_distances(map, map.goal, distances);
  EXPECT_EQ(to(map.goal), 0);
  EXPECT_EQ(to({5, 1}), 4);
  EXPECT_EQ(to({1, 1}), 8);
  EXPECT_EQ(to({1, 5}), 6);  // around the wall below it
  EXPECT_EQ(to({2, 5}), -1);
  walking_distances(map, map.agent, distances);
  EXPECT_EQ(to({3, 1}), 2);
  EXPECT_EQ(to({5, 1}), 8);  // through the gap in row 4
}

TEST(ExtraMap, DistancesDoNotCrossTheGoal) {
  const auto map = map_of({"#####", "#A# #", "#G  #", "# # #", "#####"});
  std::vector<std::int32_t> distances(map.walls.size());
  walking_distances(map, map.agent, distances);
  EXPECT_EQ(distances[map.index(map.goal)], 1);
  EXPECT_EQ(distances[map.index({2, 2})], -1);
  walking_distances(map, map.goal, distances);
  EXPECT_EQ(distances[map.index({2, 2})], 1);
}

std::vector<float> painted(const ExtraMap& map, ExtraPlanes planes) {
  std::vector<float> out(map.walls.size() * static_cast<std::size_t>(planes.count()), 0.5f);
  paint(map, planes, out);
  return out;
}

TEST(ExtraMap, IsReadBackFromItsObservation) {
  auto map = map_of(kRows);
  for (const bool shared : {false, true}) EXPECT_EQ(decode_extra(painted(map, {shared})), map);
  map.special[0].reset();
  EXPECT_EQ(decode_extra(painted(map, {false})), map);
  map.agent = map.goal;
  EXPECT_EQ(decode_extra(painted(map, {false})), map);
  std::swap(map.special[0], map.special[1]);
  EXPECT_EQ(decode_extra(painted(map, {true})),
            map);  // sharing a plane, the first is the first seen
}

TEST(ExtraMap, WhatIsNoObservationIsRefused) {
  const auto observation = painted(map_of(kRows), {});
  const auto changed = [&](Cell cell, int plane, float value) {
    auto copy = observation;
    copy[GridPicture::index(7, 5, cell, plane)] = value;
    return copy;
  };
  EXPECT_THROW(decode_extra(std::span(observation).first(244)), InvalidArgument);
  EXPECT_THROW(decode_extra({}), InvalidArgument);
  EXPECT_THROW(decode_extra(std::vector<float>(std::size_t{34} * 34 * 5)), InvalidArgument);
  EXPECT_THROW(decode_extra(changed({1, 1}, ExtraPlanes::kAgent, 0.0f)), InvalidArgument);
  EXPECT_THROW(decode_extra(changed({1, 1}, ExtraPlanes::kGoal, 1.0f)), InvalidArgument);
  EXPECT_THROW(decode_extra(changed({2, 2}, ExtraPlanes::kSpecial, 1.0f)), InvalidArgument);
  EXPECT_THROW(decode_extra(changed({0, 3}, ExtraPlanes::kWalls, 0.0f)), InvalidArgument);
  EXPECT_THROW(decode_extra(changed({1, 1}, ExtraPlanes::kWalls, 1.0f)), InvalidArgument);
  EXPECT_THROW(decode_extra(changed({5, 5}, ExtraPlanes::kWalls, 1.0f)), InvalidArgument);
}

/// One episode of an environment, stepped move by move.
class Walk {
 public:
  explicit Walk(const Extra& environment, std::uint64_t episode = 0)
      : environment_(environment), lanes_(environment.make_lanes(1)) {
    lanes_->reset(0, Random(3, "walk", episode));
  }

  std::vector<float> observation() const { return look(environment_, *lanes_, 0).observation; }
  ExtraMap map() const { return decode_extra(observation()); }
  Ending ending() const { return ending_; }

  float step(Move move) {
    const std::int32_t lane = 0, action = number(move);
    float reward = 0.0f;
    lanes_->step({&lane, 1}, {{&action, 1}, {}}, {&reward, 1}, {&ending_, 1});
    return reward;
  }

  /// Goes to a cell by a shortest walk that avoids others; the reward of the last step.
  float go(Cell to, const std::vector<Cell>& avoided) {
    float reward = 0.0f;
    const auto moves = shortest_walk(map(), map().agent, to, avoided).value();
    for (const Move move : moves) reward = step(move);
    return reward;
  }

 private:
  const Extra& environment_;
  std::unique_ptr<Lanes> lanes_;
  Ending ending_ = Ending::kNone;
};

ExtraOptions firm(ExtraOptions options = {}) {
  options.slip = 0.0;
  options.horizon = 1000;
  return options;
}

TEST(Extra, PaperDefaults) {
  const auto environment = make_environment("extra");
  EXPECT_THAT(environment->spec().observation_shape, ::testing::ElementsAre(9, 9, 5));
  EXPECT_EQ(environment->spec().horizon, 40);
  EXPECT_TRUE(environment->spec().binary_observations);
  EXPECT_EQ(environment->options()["slip"], 0.3);
  EXPECT_EQ(environment->options()["obstacles"], 5);
  EXPECT_EQ(environment->options()["reward"], "none");
  EXPECT_THAT(environment->spec().action_names,
              ::testing::ElementsAre("up", "down", "left", "right", "stay"));
}

TEST(Extra, PlanesShowWallsAgentGoalAndSpecialCells) {
  const Extra environment;
  for (std::uint64_t episode = 0; episode < 50; ++episode) {
    const auto observation = Walk(environment, episode).observation();
    EXPECT_EQ(marked(environment.spec(), observation, 0).size(), 32u + 5u);
    std::set<std::pair<int, int>> cells;
    for (std::int64_t plane = 1; plane < 5; ++plane) {
      const auto found = marked(environment.spec(), observation, plane);
      ASSERT_EQ(found.size(), 1u);
      cells.emplace(found[0].row, found[0].column);
    }
    EXPECT_EQ(cells.size(), 4u);
  }
}

TEST(Extra, EachEpisodeHasAMapOfItsOwn) {
  const Extra environment;
  std::set<std::vector<float>> seen;
  for (std::uint64_t episode = 0; episode < 200; ++episode)
    seen.insert(Walk(environment, episode).observation());
  EXPECT_EQ(seen.size(), 200u);
}

// A firm step changes the agent's two numbers and nothing else, unless a wall holds it.
TEST(Extra, MovesChangeTheAgentsCellAndWallsHold) {
  const Extra environment(firm());
  int held = 0, moved = 0;
  for (std::uint64_t episode = 0; episode < 300; ++episode)
    for (const Move move : kAllMoves) {
      Walk walk(environment, episode);
      auto expected = walk.map();
      const Cell target = neighbour(expected.agent, move);
      if (target == expected.goal || std::ranges::count(specials(expected), target)) continue;
      held += expected.is_wall(target);
      moved += !expected.is_wall(target);
      if (!expected.is_wall(target)) expected.agent = target;
      walk.step(move);
      ASSERT_EQ(walk.map(), expected);
    }
  EXPECT_GT(held, 50);
  EXPECT_GT(moved, 500);
}

TEST(Extra, InnerWallsHold) {
  const Extra environment(firm());
  int tried = 0;
  for (std::uint64_t episode = 0; episode < 100; ++episode) {
    Walk walk(environment, episode);
    const auto map = walk.map();
    for (int number = 0; number < 49; ++number) {
      const Cell wall = Grid(9).cell_at(number);
      const Cell above = neighbour(wall, Move::kUp);
      if (!map.is_wall(wall) || map.is_wall(above)) continue;
      if (!shortest_walk(map, walk.map().agent, above, {map.goal})) continue;
      walk.go(above, {map.goal});
      walk.step(Move::kDown);
      EXPECT_EQ(walk.map().agent, above);
      ++tried;
    }
  }
  EXPECT_GT(tried, 200);
}

TEST(Extra, ReachedSpecialCellsLeaveTheirPlane) {
  const Extra environment(firm());
  int walks = 0;
  for (std::uint64_t episode = 0; episode < 100; ++episode)
    for (const std::size_t first : {0u, 1u}) {
      Walk walk(environment, episode);
      const auto map = walk.map();
      const Cell one = *map.special[first], other = *map.special[1 - first];
      if (!shortest_walk(map, map.agent, one, {map.goal, other})) continue;
      walk.go(one, {map.goal, other});
      EXPECT_FALSE(walk.map().special[first]);
      EXPECT_EQ(walk.map().special[1 - first], other);
      walk.go(other, {map.goal});
      EXPECT_TRUE(specials(walk.map()).empty());
      walk.go(map.goal, {});
      EXPECT_TRUE(specials(walk.map()).empty());
      ++walks;
    }
  EXPECT_GT(walks, 150);
}

TEST(Extra, ReferenceVariantShowsBothCellsInOnePlaneForGood) {
  const Extra environment(firm({.size = 7, .one_plane = true, .cells_stay = true}));
  EXPECT_THAT(environment.spec().observation_shape, ::testing::ElementsAre(7, 7, 4));
  for (std::uint64_t episode = 0; episode < 50; ++episode) {
    Walk walk(environment, episode);
    const auto map = walk.map();
    const auto cells = marked(environment.spec(), walk.observation(), 3);
    ASSERT_EQ(cells.size(), 2u);
    for (const Cell cell : cells) {
      walk.go(cell, {map.goal});
      EXPECT_EQ(marked(environment.spec(), walk.observation(), 3), cells);
    }
  }
}

TEST(Extra, OnePlaneLosesTheCellThatWasReached) {
  const Extra environment(firm({.one_plane = true}));
  for (std::uint64_t episode = 0; episode < 50; ++episode) {
    Walk walk(environment, episode);
    const auto map = walk.map();
    const Cell one = *map.special[0], other = *map.special[1];
    if (!shortest_walk(map, map.agent, one, {map.goal, other})) continue;
    walk.go(one, {map.goal, other});
    EXPECT_THAT(marked(environment.spec(), walk.observation(), 3), ::testing::ElementsAre(other));
  }
}

TEST(Extra, EndsOnTheGoalAndNowhereElse) {
  const Extra environment({.horizon = 200});
  int arrivals = 0;
  for (const auto& episode : play(environment, 4, 0, 200)) {
    for (const auto& step : episode.steps) {
      const auto map = decode_extra(step.observation);
      EXPECT_NE(map.agent, map.goal);
    }
    const auto map = decode_extra(episode.last.observation);
    EXPECT_EQ(episode.steps.back().ending == Ending::kTerminal, map.agent == map.goal);
    arrivals += map.agent == map.goal;
  }
  EXPECT_GT(arrivals, 100);
}

TEST(Extra, TheHorizonCutsOff) {
  const Extra environment({.slip = 0.0});
  Walk walk(environment);
  for (int step = 1; step <= 40; ++step) {
    walk.step(Move::kStay);
    EXPECT_EQ(walk.ending(), step < 40 ? Ending::kNone : Ending::kTimeout);
  }
}

TEST(Extra, SlipExecutesAUniformMove) {
  constexpr double kSlip = 0.3;
  const Extra environment({.slip = kSlip});
  std::map<Move, std::int64_t> executed_moves;
  std::int64_t trials = 0;
  for (std::uint64_t episode = 0; episode < 40000; ++episode) {
    Walk walk(environment, episode);
    const auto map = walk.map();
    const auto is_open = [&](Move move) { return !map.is_wall(neighbour(map.agent, move)); };
    if (!std::ranges::all_of(kAllMoves, is_open)) continue;
    walk.step(Move::kLeft);
    const Cell agent = walk.map().agent;
    for (const Move move : kAllMoves) executed_moves[move] += agent == neighbour(map.agent, move);
    ++trials;
  }
  ASSERT_GT(trials, 10000);
  for (const Move move : kAllMoves) {
    const double chosen = move == Move::kLeft ? 1.0 - kSlip : 0.0;
    EXPECT_TRUE(plausible(executed_moves[move], trials, chosen + kSlip / kMoves));
  }
}

int manhattan(Cell a, Cell b) { return std::abs(a.row - b.row) + std::abs(a.column - b.column); }

/// The rewards of an episode that goes to one special cell, steps off and on again, goes to the
/// other and then to the goal, each with what it should be beside the distance's cost.
struct RewardedWalk {
  std::vector<float> rewards;
  std::vector<float> worth;   // of what was reached, less the cost of a step
  std::vector<int> distance;  // to the goal, before the first step and after each

  RewardedWalk(const Extra& environment, std::uint64_t episode, float special) {
    Walk walk(environment, episode);
    const auto map = walk.map();
    distance.push_back(manhattan(map.agent, map.goal));
    const auto follow = [&](Cell to, std::vector<Cell> avoided) {
      const auto moves = shortest_walk(map, walk.map().agent, to, avoided).value();
      for (const Move move : moves) {
        const auto before = specials(walk.map()).size();
        rewards.push_back(walk.step(move));
        const Cell agent = walk.map().agent;
        const bool reached = specials(walk.map()).size() < before;
        worth.push_back((reached ? special : 0.0f) + (agent == map.goal ? 10.0f : 0.0f) - 0.3f);
        distance.push_back(manhattan(agent, map.goal));
      }
    };
    follow(*map.special[0], {map.goal});
    follow(map.agent, {map.goal});
    follow(*map.special[0], {map.goal});
    follow(*map.special[1], {map.goal});
    follow(map.goal, {});
    EXPECT_EQ(walk.ending(), Ending::kTerminal);
    EXPECT_TRUE(specials(walk.map()).empty());
  }
};

TEST(Extra, RewardsAreWhatTheOptionSays) {
  const std::map<ExtraReward, float> worth = {
      {ExtraReward::kPlus, 10.0f}, {ExtraReward::kMinus, -10.0f}, {ExtraReward::kZero, 0.0f}};
  for (const auto& [reward, special] : worth)
    for (const auto kind : {ExtraDistance::kProgress, ExtraDistance::kLiteral}) {
      const Extra environment(firm({.reward = reward, .distance = kind}));
      for (std::uint64_t episode = 0; episode < 50; ++episode) {
        const RewardedWalk walk(environment, episode, special);
        for (std::size_t t = 0; t < walk.rewards.size(); ++t) {
          const int paid =
              walk.distance[t + 1] - (kind == ExtraDistance::kLiteral ? 0 : walk.distance[t]);
          EXPECT_NEAR(walk.rewards[t], walk.worth[t] - 0.3f * static_cast<float>(paid), 1e-5f);
        }
      }
    }
}

// A whole episode's progress costs what the start was away from the goal, whatever the way.
TEST(Extra, ProgressAddsUpToTheDistanceFromStartToGoal) {
  const Extra environment(firm({.reward = ExtraReward::kPlus}));
  for (std::uint64_t episode = 0; episode < 50; ++episode) {
    const RewardedWalk walk(environment, episode, 10.0f);
    float total = 0.0f;
    for (const float reward : walk.rewards) total += reward;
    const auto steps = static_cast<float>(walk.rewards.size());
    EXPECT_NEAR(total, 30.0f - 0.3f * steps + 0.3f * static_cast<float>(walk.distance[0]), 1e-3f);
  }
}

TEST(Extra, CellsThatStayAreRewardedOnce) {
  const Extra environment(firm({.cells_stay = true, .reward = ExtraReward::kPlus}));
  Walk walk(environment);
  const auto map = walk.map();
  EXPECT_GT(walk.go(*map.special[0], {map.goal}), 9.0f);
  EXPECT_LT(walk.step(Move::kStay), 0.0f);
  walk.go(map.agent, {map.goal});
  EXPECT_LT(walk.go(*map.special[0], {map.goal}), 1.0f);
}

TEST(Extra, RewardIsZeroUnlessAskedFor) {
  for (const auto& episode : play(Extra(), 5, 0, 200))
    for (const auto& step : episode.steps) ASSERT_EQ(step.reward, 0.0f);
}

TEST(Extra, ImpossibleOptionsAreErrors) {
  const auto message_of = [](const nlohmann::json& options) -> std::string {
    try {
      make_environment("extra", options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message_of({{"obstacles", 17}}),
            "extra: 17 obstacles crowd a map of size 9; at most 16 fit");
  EXPECT_EQ(message_of({{"size", 6}}), "option 'size' takes a whole number from 7 to 33, not '6'");
  EXPECT_EQ(message_of({{"reward", "more"}}),
            "option 'reward' takes one of none, plus, minus, zero, not 'more'");
  EXPECT_EQ(message_of({{"distance", "far"}}),
            "option 'distance' takes one of progress, literal, not 'far'");
}

}  // namespace
}  // namespace kindred
