#include "kindred/experts/experts.h"

namespace kindred {
namespace {

/// Right where `wants_right`, else down; along the lowest row and the last column there is no
/// choice but to follow the wall.
template <class WantsRight>
Move right_or_down(const Grid& grid, Cell agent, WantsRight wants_right) {
  if (agent.column == grid.last()) return Move::kDown;
  if (agent.row == grid.last()) return Move::kRight;
  return wants_right(agent) ? Move::kRight : Move::kDown;
}

}  // namespace

Move balanced_move(const Grid& grid, Cell agent) {
  return right_or_down(grid, agent, [](Cell cell) { return cell.row > cell.column; });
}

Policies diagonal_experts(const Diagonal& environment) {
  const auto expert = [&](const char* name, const char* summary, auto wants_right) {
    return TabularPolicy::deterministic(name, summary, environment.spec(), [&](auto state) {
      const Move move = right_or_down(environment.grid(), environment.agent(state), wants_right);
      return static_cast<std::int32_t>(move);
    });
  };
  return {
      expert("right-first", "Right until the last column, then down.", [](Cell) { return true; }),
      expert("down-first", "Down until the lowest row, then right.", [](Cell) { return false; }),
      expert("balanced", "Right where the row exceeds the column, else down.",
             [](Cell cell) { return cell.row > cell.column; }),
      expert("zigzag-1", "Right where row + column is even, else down.",
             [](Cell cell) { return (cell.row + cell.column) % 2 == 0; }),
      expert("zigzag-2", "Right where row + column is odd, else down.",
             [](Cell cell) { return (cell.row + cell.column) % 2 == 1; }),
  };
}

}  // namespace kindred
