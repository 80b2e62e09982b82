// Observations of the gridworlds decode to what their environments say of the state.
#include "kindred/render/grid_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kindred/envs/diagonal.h"
#include "kindred/envs/takeball.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

GridShape shape_of(const Environment& environment) {
  const auto& shape = environment.spec().observation_shape;
  return {shape.at(0), shape.at(1), shape.at(2)};
}

std::vector<float> observe(const Environment& environment, std::int32_t state) {
  std::vector<float> observation(static_cast<std::size_t>(environment.spec().observation_dim()));
  environment.observe_state(state, observation);
  return observation;
}

/// What every gridworld of `grid`'s size shows, whatever its state.
void expect_map(const GridScene& scene, const Grid& grid, Cell goal) {
  EXPECT_EQ(scene.size, grid.size());
  EXPECT_EQ(scene.goal, goal);
  for (int row = 0; row < grid.size(); ++row)
    for (int column = 0; column < grid.size(); ++column)
      EXPECT_EQ(scene.is_wall({row, column}), grid.is_wall({row, column}));
}

TEST(DecodeGrid, ReadsEveryStateOfDiagonal) {
  const Diagonal diagonal({.size = 7});
  for (std::int32_t state = 0; state < diagonal.spec().states; ++state) {
    const auto scene = decode_grid(observe(diagonal, state), shape_of(diagonal));
    ASSERT_TRUE(scene);
    expect_map(*scene, diagonal.grid(), diagonal.goal());
    EXPECT_EQ(scene->agent, diagonal.agent(state));
    EXPECT_TRUE(scene->objects.empty());
  }
}

TEST(DecodeGrid, ReadsEveryStateOfTakeballPermuted) {
  const TakeballPermuted takeball;
  for (std::int32_t state = 0; state < takeball.spec().states; ++state) {
    const auto scene = decode_grid(observe(takeball, state), shape_of(takeball));
    ASSERT_TRUE(scene);
    expect_map(*scene, takeball.grid(), takeball.goal());
    const auto [agent, balls] = takeball.decode(state);
    EXPECT_EQ(scene->agent, agent);
    ASSERT_EQ(scene->objects.size(), balls ? 4u : 0u);
    for (const auto& [number, cell] : scene->objects)
      EXPECT_EQ(cell, takeball.place((*balls)[static_cast<std::size_t>(number)]));
  }
}

TEST(DecodeGrid, KnowsInnerWallsAndSeveralObjectsInAPlane) {
  const Grid grid(5);
  std::vector<float> observation(125);
  GridPicture picture(grid, 5, observation);
  picture.mark({2, 2}, 0);
  picture.mark({2, 1}, 1);
  picture.mark({1, 3}, 4);
  picture.mark({3, 3}, 4);
  const auto scene = decode_grid(observation, {5, 5, 5});
  ASSERT_TRUE(scene);
  EXPECT_TRUE(scene->is_wall({2, 2}));
  EXPECT_FALSE(scene->goal);
  EXPECT_THAT(scene->objects, ElementsAre(GridObject{1, {1, 3}}, GridObject{1, {3, 3}}));
  EXPECT_EQ(scene->after({2, 1}, Move::kRight), (Cell{2, 1})) << "a wall is in the way";
  EXPECT_EQ(scene->after({2, 1}, Move::kUp), (Cell{1, 1}));
  EXPECT_EQ(scene->after({2, 1}, Move::kStay), (Cell{2, 1}));
}

class Refused : public ::testing::Test {
 protected:
  const Diagonal diagonal_;
  const GridShape shape_ = shape_of(diagonal_);
  std::vector<float> observation_ = observe(diagonal_, 0);  // the agent at (1, 1)

  float& at(std::size_t row, std::size_t column, std::size_t plane) {
    return observation_[(row * 9 + column) * 3 + plane];
  }
};

TEST_F(Refused, ShapesThatDoNotFit) {
  ASSERT_TRUE(decode_grid(observation_, shape_));
  EXPECT_FALSE(decode_grid(observation_, {9, 9, 2}));
  EXPECT_FALSE(decode_grid(observation_, {3, 3, 27}));
  EXPECT_FALSE(decode_grid(observation_, {27, 3, 3}));
  EXPECT_FALSE(decode_grid(observation_, {-9, -9, 3}));
  EXPECT_FALSE(decode_grid({}, {0, 0, 3}));
}

TEST_F(Refused, NumbersOtherThanZeroAndOne) {
  at(4, 4, 2) = 0.5f;
  EXPECT_FALSE(decode_grid(observation_, shape_));
}

TEST_F(Refused, AGapInTheRing) {
  at(0, 4, 0) = 0.0f;
  EXPECT_FALSE(decode_grid(observation_, shape_));
}

TEST_F(Refused, TwoAgents) {
  at(4, 4, 1) = 1.0f;
  EXPECT_FALSE(decode_grid(observation_, shape_));
}

TEST_F(Refused, NoAgent) {
  at(1, 1, 1) = 0.0f;
  EXPECT_FALSE(decode_grid(observation_, shape_));
}

TEST_F(Refused, AnAgentInAWall) {
  at(1, 1, 0) = 1.0f;
  EXPECT_FALSE(decode_grid(observation_, shape_));
}

TEST_F(Refused, TwoGoals) {
  at(4, 4, 2) = 1.0f;
  EXPECT_FALSE(decode_grid(observation_, shape_));
}

TEST(FindGridShape, FindsItFromTheObservationAlone) {
  EXPECT_THAT(find_grid_shape(observe(Diagonal({.size = 12}), 3)), Optional(GridShape{12, 12, 3}));
  EXPECT_THAT(find_grid_shape(observe(Takeball(), 3)), Optional(GridShape{9, 9, 7}));
  EXPECT_FALSE(find_grid_shape(std::vector<float>(243, 0.0f)));
  EXPECT_FALSE(find_grid_shape(std::vector<float>(11, 0.3f)));
  EXPECT_FALSE(find_grid_shape({}));
}

}  // namespace
}  // namespace kindred
