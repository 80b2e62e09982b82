// Walks through gridworlds: what is read from the observations, and what is drawn of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kindred/envs/takeball.h"
#include "kindred/render/grid_trace.h"
#include "kindred/render/grid_way.h"
#include "tests/render/drawings.h"

namespace kindred {
namespace {

using kindred::testing::complaint;
using kindred::testing::Drawn;
using kindred::testing::one_episode;
using kindred::testing::terminate;
using kindred::testing::walk;
using render::GridTrace;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

GridTrace trace_of(const Trajectories& data) {
  return render::trace_grid(render::take_episode(data, 0, {}));
}

TEST(GridTrace, FindsStepsThatLedElsewhere) {
  // right: as chosen; down: went right; right: stayed; stay: moved down; up and its end are
  // unknown.
  const auto data = walk({{3, 3}, {3, 4}, {3, 5}, {3, 5}, {4, 5}},
                         {Move::kRight, Move::kDown, Move::kRight, Move::kStay, Move::kUp});
  const auto trace = trace_of(data);
  EXPECT_THAT(trace.slips(), ElementsAre(1u, 2u, 3u));
  EXPECT_EQ(trace.describe(1), "step 1: chose down, the move was right");
  EXPECT_EQ(trace.describe(2), "step 2: chose right, the move was stay");
  EXPECT_EQ(trace.cells.size(), 5u) << "where the last step led is not recorded";
}

TEST(GridTrace, WalkingIntoAWallIsNoSlip) {
  const auto trace = trace_of(walk({{1, 1}, {1, 1}}, {Move::kUp, Move::kUp}));
  EXPECT_THAT(trace.slips(), ElementsAre());
}

TEST(GridTrace, EndsOnTheGoalWhenTheEpisodeDid) {
  auto data = walk({{7, 5}, {7, 6}}, {Move::kRight, Move::kDown});
  terminate(data);
  const auto trace = trace_of(data);
  EXPECT_EQ(trace.cells.back(), (Cell{7, 7}));
  EXPECT_THAT(trace.slips(), ElementsAre(1u)) << "down would not have led there";
  auto far = walk({{2, 2}, {2, 3}}, {Move::kRight, Move::kRight});
  terminate(far);
  EXPECT_EQ(trace_of(far).cells.size(), 2u) << "the goal is not one step away";
}

/// From under ball 1 onto it and away again.
Trajectories fetch_ball_one() {
  const Takeball takeball({.slip = 0.0});
  Random random(1);
  const auto dim = static_cast<std::size_t>(takeball.spec().observation_dim());
  auto state = takeball.start(random);
  while (takeball.decode(state).agent.column != 3)
    state = takeball.next(state, static_cast<std::int32_t>(Move::kRight), random);
  std::vector<float> rows;
  std::vector<std::int32_t> actions;
  for (const Move move : {Move::kUp, Move::kUp, Move::kUp, Move::kUp, Move::kUp, Move::kUp,
                          Move::kDown, Move::kRight}) {
    rows.resize(rows.size() + dim);
    takeball.observe_state(state, std::span(rows).last(dim));
    actions.push_back(static_cast<std::int32_t>(move));
    state = takeball.next(state, actions.back(), random);
  }
  auto data = one_episode(rows, static_cast<std::int64_t>(dim));
  data.actions = Actions::discrete(actions, kMoves);
  data.provenance["environment"] = "takeball";
  return data;
}

TEST(GridTrace, KnowsWhichBallWasReached) {
  const auto trace = trace_of(fetch_ball_one());
  ASSERT_EQ(trace.scenes.front().objects.size(), 4u);
  for (const auto& ball : trace.scenes.front().objects)
    EXPECT_EQ(trace.taken_at(ball).value_or(0), ball.number == 1 ? 6u : 0u);
}

TEST(GridTrace, RefusesOtherData) {
  const auto tried = [](const Trajectories& data) { return complaint([&] { trace_of(data); }); };
  EXPECT_THAT(tried(one_episode({0.1f, 0.2f, 0.3f}, 3)),
              ::testing::HasSubstr("episode 0 is not one of a gridworld"));
  auto data = walk({{1, 1}}, {Move::kUp});
  data.actions = Actions::continuous(std::vector<float>{0.5f}, 1);
  EXPECT_THAT(tried(data), ::testing::HasSubstr("not the 5 moves"));
  data.actions = Actions::discrete(std::vector<std::int32_t>{7}, 8);
  EXPECT_THAT(tried(data), ::testing::HasSubstr("not the 5 moves"));

  auto broken = walk({{1, 1}, {1, 2}}, {Move::kRight, Move::kRight});
  std::vector<float> rows(broken.observations.floats().begin(), broken.observations.floats().end());
  rows.back() = 0.0f;  // a wall of the second observation
  rows[rows.size() - 3] = 0.0f;
  broken.observations = Observations::dense(rows, 243);
  EXPECT_THAT(tried(broken), ::testing::HasSubstr("step 1 of episode 0"));
}

class GridWay : public ::testing::Test {
 protected:
  const render::GridMap map_{{0.0, 0.0}, 9, 40.0, render::theme(false)};
};

TEST_F(GridWay, RunsThroughTheMiddleOfCellsPassedOnce) {
  const auto way = render::lay_way({{1, 1}, {1, 2}, {2, 2}}, map_);
  ASSERT_EQ(way.line.size(), 3u);
  EXPECT_EQ(way.line[1].at.x, map_.centre({1, 2}).x);
  EXPECT_EQ(way.line[1].at.y, map_.centre({1, 2}).y);
  EXPECT_EQ(way.line[1].time, 0.5);
}

TEST_F(GridWay, KeepsToTheRightWhereItPassesAgain) {
  const auto way = render::lay_way({{1, 1}, {1, 2}, {1, 1}, {1, 2}, {1, 3}}, map_);
  ASSERT_EQ(way.line.size(), 7u) << "two points where it turns back";
  const double y = map_.centre({1, 1}).y;
  EXPECT_GT(way.line[0].at.y, y) << "to the right, going right: below";
  EXPECT_LT(way.line[2].at.y, y) << "back: above";
  EXPECT_GT(way.line[4].at.y, way.line[0].at.y) << "again: further out";
  EXPECT_EQ(way.places.size(), 5u);
}

TEST_F(GridWay, MarksPausesBesideEachOther) {
  const auto way = render::lay_way({{1, 1}, {1, 1}, {1, 1}, {1, 2}}, map_);
  EXPECT_EQ(way.line.size(), 2u);
  EXPECT_THAT(way.pauses, ElementsAre(1u, 2u));
  EXPECT_NE(way.places[1].x, way.places[2].x);
}

TEST(GridDrawing, ShowsTheWayAndItsSlips) {
  const auto data = walk({{3, 3}, {3, 4}, {4, 4}, {4, 4}, {4, 5}},
                         {Move::kRight, Move::kRight, Move::kUp, Move::kStay, Move::kUp});
  const Drawn drawn(draw_trajectory(data, 0));
  EXPECT_EQ(drawn.of("way").size(), 4u) << "one piece around each cell of the way";
  EXPECT_EQ(drawn.of("pause").size(), 1u);
  const auto slips = drawn.of("slip");
  ASSERT_EQ(slips.size(), 3u);
  EXPECT_EQ(slips[0].title, "step 1: chose right, the move was down");
  EXPECT_EQ(slips[2].name, "circle") << "the chosen action was to stay";
  EXPECT_EQ(drawn.of("walls").size(), 1u);
  EXPECT_EQ(drawn.of("start").size(), 1u);
  EXPECT_EQ(drawn.of("goal").size(), 1u);
  EXPECT_THAT(drawn.texts("number"), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(drawn.legend(), Contains("slipped: move chosen, not made"));
  EXPECT_THAT(drawn.legend(), Not(Contains("object")));
}

TEST(GridDrawing, ShowsBallsByNumberAndTheOneReached) {
  const Drawn drawn(draw_trajectory(fetch_ball_one(), 0));
  const auto balls = drawn.of("object");
  ASSERT_EQ(balls.size(), 4u);
  EXPECT_EQ(balls[1].title, "ball 1, reached at step 6");
  EXPECT_EQ(balls[2].title, "ball 2");
  EXPECT_NE(balls[1].attributes.at("fill"), balls[2].attributes.at("fill"));
  EXPECT_THAT(drawn.texts(), Contains("3"));
  EXPECT_THAT(drawn.legend(), Contains("ball reached"));
}

TEST(GridDrawing, NumbersLongWalksSparsely) {
  std::vector<Cell> cells;
  for (int i = 0; i < 40; ++i) cells.push_back({1 + (i / 7) % 7, 1 + i % 7});
  const Drawn drawn(draw_trajectory(walk(cells, std::vector<Move>(40, Move::kRight)), 0));
  EXPECT_THAT(drawn.texts("number"), ElementsAre("0", "5", "10", "15", "20", "25", "30", "35"));
}

TEST(GridDrawing, ManyVisitsOfOneCellFindRoomOrAreLeftOut) {
  std::vector<Cell> cells;
  for (int i = 0; i < 60; ++i) cells.push_back({3, 3 + i % 2});
  const Drawn drawn(draw_trajectory(walk(cells, std::vector<Move>(60, Move::kRight)), 0));
  EXPECT_EQ(drawn.texts("number").size(), 4u) << "even steps only: one cell, four corners";
}

TEST(Frames, ShowEveryStepAndTheEnd) {
  RenderOptions options;
  options.frames = true;
  auto data = walk({{7, 5}, {7, 5}, {7, 6}}, {Move::kRight, Move::kRight, Move::kRight});
  EXPECT_EQ(Drawn(draw_trajectory(data, 0, options)).of("frame").size(), 3u);
  terminate(data);
  const Drawn drawn(draw_trajectory(data, 0, options));
  EXPECT_EQ(drawn.of("frame").size(), 4u);
  EXPECT_EQ(drawn.of("agent").size(), 4u);
  EXPECT_EQ(drawn.of("action").size(), 2u);
  EXPECT_EQ(drawn.of("slip").size(), 1u);
  EXPECT_THAT(drawn.texts(),
              ::testing::IsSupersetOf({"0 right, slip", "1 right", "2 right", "3 goal"}));
}

TEST(Frames, LoseTheBallsOnceOneIsTaken) {
  RenderOptions options;
  options.frames = true;
  const Drawn drawn(draw_trajectory(fetch_ball_one(), 0, options));
  EXPECT_EQ(drawn.of("frame").size(), 8u);
  EXPECT_EQ(drawn.of("object").size(), 6u * 4u);
  EXPECT_THAT(drawn.legend(), Contains("ball 3"));
}

TEST(Frames, AreBounded) {
  RenderOptions options;
  options.frames = true;
  const auto data = walk(std::vector<Cell>(401, Cell{1, 1}), std::vector<Move>(401, Move::kStay));
  EXPECT_THAT(complaint([&] { draw_trajectory(data, 0, options); }),
              ::testing::HasSubstr("401 frames"));
}

}  // namespace
}  // namespace kindred
