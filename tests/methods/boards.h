// Observations that are planes of zeros and ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/data/trajectories.h"

namespace kindred::testing {

inline constexpr std::int64_t kSide = 6, kPlanes = 3;  // acting cell, goal, walls

/// Somebody walks to a goal, or away from it, on a board with walls that differ each time.
inline Trajectories boards(std::int64_t episodes, bool planes_last, std::uint64_t seed = 1) {
  Random random(seed, "boards");
  Trajectories data;
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::uint8_t> seen;
  std::vector<std::int32_t> actions, labels;
  const auto any = [&] { return static_cast<std::int64_t>(random.below(kSide)); };
  for (std::int64_t i = 0; i < episodes; ++i) {
    std::int64_t row = any(), column = any();
    const std::int64_t goal_row = any(), goal_column = any(), wall = any() * kSide + any();
    const auto policy = static_cast<std::int32_t>(i % 2);
    for (int t = 0; t < 10; ++t) {
      std::vector<std::uint8_t> board(kSide * kSide * kPlanes, 0);
      const auto put = [&](std::int64_t plane, std::int64_t cell) {
        board[static_cast<std::size_t>(planes_last ? cell * kPlanes + plane
                                                   : plane * kSide * kSide + cell)] = 1;
      };
      put(0, row * kSide + column);
      put(1, goal_row * kSide + goal_column);
      put(2, wall);
      seen.insert(seen.end(), board.begin(), board.end());
      // 0 up, 1 down, 2 left, 3 right: towards the goal, or the other way; one in ten at random.
      const bool vertical = std::abs(goal_row - row) > std::abs(goal_column - column);
      const bool forward = vertical ? goal_row > row : goal_column > column;
      auto action = (vertical ? 0 : 2) + (forward == (policy == 0) ? 1 : 0);
      if (random.uniform() < 0.1) action = static_cast<int>(random.below(4));
      actions.push_back(action);
      if (action < 2)
        row = std::clamp<std::int64_t>(row + (action == 1 ? 1 : -1), 0, kSide - 1);
      else
        column = std::clamp<std::int64_t>(column + (action == 3 ? 1 : -1), 0, kSide - 1);
    }
    offsets.push_back(offsets.back() + 10);
    labels.push_back(policy);
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = std::move(offsets);
  data.observations =
      Observations::dense(Column<std::uint8_t>(std::move(seen)), kSide * kSide * kPlanes);
  data.actions = Actions::discrete(std::move(actions), 4);
  data.labels = std::move(labels);
  data.validate("boards");
  return data;
}

}  // namespace kindred::testing
