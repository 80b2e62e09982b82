// What an observation of a gridworld shows: walls, agent, goal and objects, read back from it.
//
// An observation holds size x size x planes numbers, 0 or 1, the planes of a cell side by side:
// walls (the outermost ring among them), agent, goal, and a plane for each further kind of object.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kindred/envs/grid.h"

namespace kindred {

struct GridObject {
  int number = 0;  ///< Of its plane among those of objects, from 0.
  Cell cell;
  friend bool operator==(const GridObject&, const GridObject&) = default;
};

struct GridScene {
  int size = 0;
  std::vector<Cell> walls = {};  ///< Row by row, as everything below.
  Cell agent = {};
  std::optional<Cell> goal = {};
  std::vector<GridObject> objects = {};

  bool is_wall(Cell cell) const;
  /// Where a move leads: walking into a wall is staying.
  Cell after(Cell cell, Move move) const;
};

/// Rows, columns, planes.
using GridShape = std::array<std::int64_t, 3>;

/// The scene; nothing when `observation` is not of this shape, holds other numbers than 0 and 1,
/// has a gap in the outermost ring of walls, not exactly one agent or that in a wall, or several
/// goals.
std::optional<GridScene> decode_grid(std::span<const float> observation, const GridShape& shape);

/// The shape in which the observation decodes; nothing when there is none.
std::optional<GridShape> find_grid_shape(std::span<const float> observation);

}  // namespace kindred
