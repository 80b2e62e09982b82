// The rules of each environment, as the specification words them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "kindred/envs/bandit.h"
#include "kindred/envs/diagonal.h"
#include "kindred/envs/registry.h"
#include "kindred/envs/takeball.h"
#include "tests/envs/grid_checks.h"
#include "tests/envs/playing.h"

namespace kindred {
namespace {

std::vector<float> picture(const Environment& environment, std::int32_t state) {
  std::vector<float> observation(static_cast<std::size_t>(environment.spec().observation_dim()));
  environment.observe_state(state, observation);
  return observation;
}

TEST(Grid, MovesChangeOneCoordinateAndWallsHold) {
  const Grid grid(9);
  EXPECT_EQ(grid.after({3, 4}, Move::kUp), (Cell{2, 4}));
  EXPECT_EQ(grid.after({3, 4}, Move::kDown), (Cell{4, 4}));
  EXPECT_EQ(grid.after({3, 4}, Move::kLeft), (Cell{3, 3}));
  EXPECT_EQ(grid.after({3, 4}, Move::kRight), (Cell{3, 5}));
  EXPECT_EQ(grid.after({3, 4}, Move::kStay), (Cell{3, 4}));
  EXPECT_EQ(grid.after({1, 1}, Move::kUp), (Cell{1, 1}));
  EXPECT_EQ(grid.after({1, 1}, Move::kLeft), (Cell{1, 1}));
  EXPECT_EQ(grid.after({7, 7}, Move::kDown), (Cell{7, 7}));
  EXPECT_EQ(grid.after({7, 7}, Move::kRight), (Cell{7, 7}));
  for (std::int32_t i = 0; i < grid.free_cells(); ++i)
    EXPECT_EQ(grid.number_of(grid.cell_at(i)), i);
}

class Gridworld : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Gridworld,
                         ::testing::Values("diagonal", "takeball", "takeball-permuted"),
                         [](const auto& tested) { return test_name(tested.param); });

TEST_P(Gridworld, PaperDefaults) {
  const auto environment = make_environment(GetParam());
  const auto planes = GetParam() == "diagonal" ? 3 : 7;
  EXPECT_THAT(environment->spec().observation_shape, ::testing::ElementsAre(9, 9, planes));
  EXPECT_EQ(environment->spec().horizon, 40);
  EXPECT_EQ(environment->options()["slip"], 0.3);
  EXPECT_THAT(environment->spec().action_names,
              ::testing::ElementsAre("up", "down", "left", "right", "stay"));
}

TEST_P(Gridworld, OneAgentOneGoalAndNeverInAWall) {
  const auto environment = make_environment(GetParam());
  const auto& spec = environment->spec();
  const auto check = [&](const PlayedStep& step) {
    const auto walls = marked(spec, step.observation, 0);
    const auto agent = marked(spec, step.observation, 1);
    ASSERT_EQ(walls.size(), 32u);
    ASSERT_EQ(agent.size(), 1u);
    EXPECT_THAT(walls, ::testing::Not(::testing::Contains(agent[0])));
    EXPECT_THAT(marked(spec, step.observation, 2), ::testing::ElementsAre(Cell{7, 7}));
  };
  for (const auto& episode : play(*environment, 1, 0, 100)) {
    for (const auto& step : episode.steps) check(step);
    check(episode.last);
  }
}

TEST_P(Gridworld, EndsOnTheGoalAndNowhereElse) {
  const auto environment = make_environment(GetParam(), {{"horizon", 400}});
  int arrivals = 0;
  for (const auto& episode : play(*environment, 2, 0, 100)) {
    for (const auto& step : episode.steps)
      EXPECT_NE(agent_in(environment->spec(), step.observation), (Cell{7, 7}));
    const bool arrived = agent_in(environment->spec(), episode.last.observation) == Cell{7, 7};
    EXPECT_EQ(episode.steps.back().ending == Ending::kTerminal, arrived);
    arrivals += arrived;
  }
  EXPECT_GT(arrivals, 50);
}

// The same streams, once with slips and once per executed move without, tell what slipping did.
TEST_P(Gridworld, SlipExecutesAUniformMove) {
  constexpr double kSlip = 0.3;
  constexpr std::int32_t kTrials = 40000;
  const auto slippery = make_environment(GetParam(), {{"slip", kSlip}});
  const auto firm = make_environment(GetParam(), {{"slip", 0.0}});

  const auto after_first_step = [](const Environment& environment, Move move) {
    const auto lanes = environment.make_lanes(kTrials);
    std::vector<std::int32_t> all(kTrials), states(kTrials);
    for (std::int32_t i = 0; i < kTrials; ++i) {
      all[static_cast<std::size_t>(i)] = i;
      lanes->reset(i, Random(3, "slip", static_cast<std::uint64_t>(i)));
    }
    const std::vector<std::int32_t> actions(kTrials, number(move));
    std::vector<float> rewards(kTrials);
    std::vector<Ending> endings(kTrials);
    lanes->step(all, {actions, {}}, rewards, endings);
    lanes->states(all, states);
    return states;
  };

  std::map<Move, std::vector<std::int32_t>> executed;
  for (const Move move : kAllMoves) executed[move] = after_first_step(*firm, move);

  for (const Move chosen : kAllMoves) {
    const auto found = after_first_step(*slippery, chosen);
    for (const Move other : kAllMoves) {
      if (other == chosen) continue;
      // Only starts from where this move leads to a place of its own can tell.
      std::int64_t trials = 0, slipped = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        int same = 0;
        for (const Move move : kAllMoves) same += executed[move][i] == executed[other][i];
        if (same > 1) continue;
        ++trials;
        slipped += found[i] == executed[other][i];
      }
      if (trials > 0) {
        EXPECT_TRUE(plausible(slipped, trials, kSlip / kMoves));
      }
    }
  }
}

TEST_P(Gridworld, SlipZeroObeysAndSlipOneIgnores) {
  const auto moved_right = [&](double slip) {
    const auto environment = make_environment(GetParam(), {{"slip", slip}});
    const auto lanes = environment->make_lanes(1);
    const std::int32_t lane = 0, action = number(Move::kRight);
    std::int64_t moved = 0;
    for (std::uint64_t i = 0; i < 20000; ++i) {
      lanes->reset(lane, Random(4, "", i));
      const auto agent = [&] {
        return agent_in(environment->spec(), look(*environment, *lanes, lane).observation);
      };
      const Cell before = agent();
      float reward = 0.0f;
      Ending ending = Ending::kNone;
      lanes->step({&lane, 1}, {{&action, 1}, {}}, {&reward, 1}, {&ending, 1});
      moved += agent().column == before.column + 1;
    }
    return moved;
  };
  EXPECT_EQ(moved_right(0.0), 20000);
  EXPECT_TRUE(plausible(moved_right(1.0), 20000, 0.2));
}

TEST(Diagonal, StartsUniformlyInTheUpperLeftCorner) {
  const Diagonal environment;
  std::map<std::int32_t, std::int64_t> counts;
  constexpr std::int64_t kTrials = 64000;
  Random random(5);
  for (std::int64_t i = 0; i < kTrials; ++i) ++counts[environment.start(random)];
  EXPECT_EQ(counts.size(), 16u);
  for (const auto& [state, count] : counts) {
    EXPECT_LE(environment.agent(state).row, 4);
    EXPECT_LE(environment.agent(state).column, 4);
    EXPECT_TRUE(plausible(count, kTrials, 1.0 / 16.0));
  }
}

TEST(Takeball, StartsInTheLowestRow) {
  const Takeball environment;
  std::set<int> columns;
  Random random(6);
  for (int i = 0; i < 1000; ++i) {
    const auto [agent, balls] = environment.decode(environment.start(random));
    EXPECT_EQ(agent.row, 7);
    EXPECT_NE(balls, nullptr);
    columns.insert(agent.column);
  }
  EXPECT_THAT(columns, ::testing::ElementsAre(1, 2, 3));
}

TEST(Takeball, BallsLieWhereThePaperPutsThem) {
  const Takeball environment;
  Random random(7);
  const auto observation = picture(environment, environment.start(random));
  for (int ball = 0; ball < 4; ++ball)
    EXPECT_THAT(marked(environment.spec(), observation, 3 + ball),
                ::testing::ElementsAre(Cell{1, 1 + 2 * ball}));
}

TEST(Takeball, SteppingOnAnyBallRemovesAllForGood) {
  const Takeball environment({.slip = 0.0});
  Random random(8);
  for (int ball = 0; ball < 4; ++ball) {
    std::int32_t state = environment.start(random);
    const auto go = [&](Move move, int times) {
      for (int i = 0; i < times; ++i) state = environment.next(state, number(move), random);
    };
    go(Move::kUp, 5);  // row 2, below the balls
    go(Move::kLeft, 6);
    go(Move::kRight, 2 * ball);
    EXPECT_NE(environment.decode(state).balls, nullptr);
    go(Move::kUp, 1);
    EXPECT_EQ(environment.decode(state).agent, (Cell{1, 1 + 2 * ball}));
    const auto observation = picture(environment, state);
    for (int other = 0; other < 4; ++other)
      EXPECT_TRUE(marked(environment.spec(), observation, 3 + other).empty());
    go(Move::kDown, 6);
    EXPECT_EQ(environment.decode(state).balls, nullptr);
  }
}

TEST(TakeballPermuted, EachArrangementIsEquallyLikely) {
  const TakeballPermuted environment;
  std::map<Takeball::Arrangement, std::int64_t> counts;
  constexpr std::int64_t kTrials = 48000;
  Random random(9);
  for (std::int64_t i = 0; i < kTrials; ++i)
    ++counts[*environment.decode(environment.start(random)).balls];
  EXPECT_EQ(counts.size(), 24u);
  for (const auto& [arrangement, count] : counts) {
    EXPECT_TRUE(plausible(count, kTrials, 1.0 / 24.0));
  }
}

TEST(TakeballPermuted, ArrangementStaysDuringAnEpisode) {
  const TakeballPermuted environment;
  for (const auto& episode : play(environment, 10, 0, 50)) {
    const auto* const initial = environment.decode(episode.steps[0].state).balls;
    for (const auto& step : episode.steps) {
      const auto* balls = environment.decode(step.state).balls;
      EXPECT_TRUE(balls == initial || balls == nullptr);
    }
  }
}

TEST(Bandit, EpisodeIsOnePairUnlessAskedOtherwise) {
  for (const auto& episode : play(Bandit(), 11, 0, 50)) EXPECT_EQ(episode.steps.size(), 1u);
  for (const auto& episode : play(Bandit({.horizon = 6}), 11, 0, 50))
    EXPECT_EQ(episode.steps.size(), 6u);
}

TEST(Bandit, StatesAreDrawnByTheirShareWhateverWasDone) {
  for (const double share : {0.0, 0.2, 0.5, 1.0}) {
    const Bandit environment({.horizon = 20, .first_state_share = share});
    std::map<float, std::int64_t> steps, first;  // by the action before
    for (const auto& episode : play(environment, 12, 0, 2000))
      for (std::size_t t = 1; t < episode.steps.size(); ++t) {
        ++steps[episode.steps[t - 1].action[0]];
        first[episode.steps[t - 1].action[0]] += episode.steps[t].state == 0;
      }
    for (const auto& [action, count] : steps) {
      EXPECT_TRUE(plausible(first[action], count, share));
    }
  }
}

}  // namespace
}  // namespace kindred
