#include "kindred/clustering/network_inputs.h"

#include <gtest/gtest.h>

#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

Standardize resolved(const Observations& observations) {
  return resolve_standardize(Standardize::kAuto, observations);
}

/// Extra draws a new map for every episode, so its planes of zeros and ones do not repeat.
TEST(NetworkInputs, AutoLeavesGridworldsAloneHoweverTheyAreStored) {
  const auto grid = testing::gridworld("takeball", 3);
  ASSERT_TRUE(grid.observations.is_interned());
  EXPECT_EQ(resolved(grid.observations), Standardize::kOff);
  EXPECT_EQ(resolved(testing::without_interning(grid).observations), Standardize::kOff);
  const std::vector<std::uint8_t> bytes = {0, 1, 1, 0, 1, 0};
  EXPECT_EQ(resolved(Observations::dense(Column<std::uint8_t>(bytes), 2)), Standardize::kOff);
}

TEST(NetworkInputs, AutoScalesEverythingElse) {
  EXPECT_EQ(resolved(testing::linear_control({}).observations), Standardize::kOn);
  const std::vector<std::uint8_t> pixels = {0, 1, 255, 0};
  EXPECT_EQ(resolved(Observations::dense(Column<std::uint8_t>(pixels), 2)), Standardize::kOn);
  const std::vector<float> places = {0.0F, 1.0F, 2.0F};  // a state's number, and it repeats
  const std::vector<std::int32_t> index = {0, 1, 2, 1, 0};
  EXPECT_EQ(resolved(Observations::interned(Column<float>(places), 1, Column<std::int32_t>(index))),
            Standardize::kOn);
}

TEST(NetworkInputs, WhatTheUserSaysHolds) {
  const auto grid = testing::gridworld("takeball", 3);
  EXPECT_EQ(resolve_standardize(Standardize::kOn, grid.observations), Standardize::kOn);
  const auto control = testing::linear_control({});
  EXPECT_EQ(resolve_standardize(Standardize::kOff, control.observations), Standardize::kOff);
}

}  // namespace
}  // namespace kindred
