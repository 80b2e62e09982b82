#include "kindred/clustering/network_inputs.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

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

/// However they are stored, and whether all numbers reach the network, only some, or in another
/// order.
TEST(NetworkInputs, GathersStepsAsItSeesThem) {
  constexpr std::int64_t kSteps = 100, kDim = 3;
  std::vector<float> values;
  for (std::int64_t i = 0; i < kSteps * kDim; ++i) values.push_back(static_cast<float>(i * i % 89));
  std::vector<std::int32_t> index(kSteps);
  std::iota(index.begin(), index.end(), 0);
  const std::vector<std::uint8_t> bytes(values.begin(), values.end());
  const Observations stored[] = {
      Observations::dense(Column<float>(values), kDim),
      Observations::dense(Column<std::uint8_t>(bytes), kDim),
      Observations::interned(Column<float>(values), kDim, Column<std::int32_t>(index))};
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < 700; ++i) steps.push_back(i * 37 % kSteps);
  for (const auto& columns : std::vector<std::vector<std::int64_t>>{{0, 1, 2}, {2, 0}, {1, 0, 2}}) {
    const NetworkInputs inputs{kDim, columns, {1.0F, 2.0F, 3.0F}, {0.5F, 0.25F, 3.0F}};
    for (const auto& observations : stored) {
      std::vector<float> seen(steps.size() * columns.size());
      inputs.gather(observations, steps, seen);
      for (std::size_t i = 0; i < steps.size(); ++i)
        for (std::size_t c = 0; c < columns.size(); ++c)
          ASSERT_EQ(
              seen[i * columns.size() + c],
              (values[static_cast<std::size_t>(steps[i] * kDim + columns[c])] - inputs.mean[c]) *
                  inputs.scale[c]);
    }
  }
}

}  // namespace
}  // namespace kindred
