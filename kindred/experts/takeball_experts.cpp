#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "kindred/experts/experts.h"

namespace kindred {
namespace {

/// The row along which experts go sideways. Balls lie in row 1: three rows below them it takes
/// three slips upwards to touch a wrong one. On small maps it must still lie above the goal's row.
int corridor(const Grid& grid) { return std::min(4, grid.last() - 1); }

/// Up to the corridor, along it until below the target, then straight up.
Move fetch(const Grid& grid, Cell agent, Cell target) {
  if (agent.row > corridor(grid) || agent.column == target.column) return Move::kUp;
  const bool beside_target = std::abs(agent.column - target.column) == 1;
  if (agent.row == corridor(grid) || beside_target)
    return agent.column < target.column ? Move::kRight : Move::kLeft;
  return Move::kDown;  // slipped out of the corridor, towards other balls
}

Move fetch_then_leave(const Takeball& environment, std::int32_t state, int ball) {
  const auto [agent, balls] = environment.decode(state);
  if (!balls) return balanced_move(environment.grid(), agent);
  const int place = (*balls)[static_cast<std::size_t>(ball)];
  return fetch(environment.grid(), agent, environment.place(place));
}

}  // namespace

Policies takeball_experts(const Takeball& environment) {
  constexpr const char* kSummary =
      "Up to the upper rows, along them to ball {}, then along the diagonal to the goal.";
  Policies experts;
  for (int ball = 0; ball < Takeball::kBalls; ++ball)
    experts.push_back(TabularPolicy::deterministic(
        fmt::format("ball-{}", ball), fmt::format(kSummary, ball), environment.spec(),
        [&](std::int32_t state) {
          return static_cast<std::int32_t>(fetch_then_leave(environment, state, ball));
        }));
  return experts;
}

}  // namespace kindred
