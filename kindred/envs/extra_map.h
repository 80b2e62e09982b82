// A map of Extra: inner walls, the agent, the goal and two special cells; how maps are drawn at
// random, painted as observations and read back from them.
//
// Observation: size x size x planes (walls, agent, goal, and one plane for each special cell or one
// for both).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/envs/grid.h"

namespace kindred {

struct ExtraMap {
  static constexpr int kSpecialCells = 2;

  int size = 0;
  std::vector<std::uint8_t> walls;  ///< [size, size], 1 where there is one; the ring included.
  Cell agent;
  Cell goal;
  std::array<std::optional<Cell>, kSpecialCells> special;  ///< Those in the observation.

  explicit ExtraMap(int map_size);
  std::size_t index(Cell cell) const {
    return static_cast<std::size_t>(std::int64_t{cell.row} * size + cell.column);
  }
  bool is_wall(Cell cell) const { return walls[index(cell)] != 0; }
  friend bool operator==(const ExtraMap&, const ExtraMap&) = default;
};

/// The planes of an observation, by number.
struct ExtraPlanes {
  static constexpr int kWalls = 0, kAgent = 1, kGoal = 2, kSpecial = 3;
  bool shared = false;  ///< Both special cells in one plane.

  int count() const { return kSpecial + (shared ? 1 : ExtraMap::kSpecialCells); }
  int special(int i) const { return kSpecial + (shared ? 0 : i); }
};

/// The observation of a map, out[size, size, planes].
void paint(const ExtraMap& map, ExtraPlanes planes, std::span<float> out);

/// The map that an observation shows; its length tells its shape. Special cells that share a plane
/// come in the order of reading. Throws InvalidArgument when it is not an observation of Extra.
ExtraMap decode_extra(std::span<const float> observation);

/// How many steps lead from `from` to each cell without crossing the goal, out[size, size]; -1
/// where none do.
void walking_distances(const ExtraMap& map, Cell from, std::span<std::int32_t> out);

/// Draws maps one after the other into the same memory.
class ExtraMapDrawer {
 public:
  ExtraMapDrawer(int size, int obstacles);

  /// Start, goal and special cells are four different cells, uniformly; then walls, uniformly among
  /// the cells that are none of these nor next to one (left, right, above, below). A map on which
  /// the agent cannot reach the goal, or a special cell without crossing the goal, is redrawn.
  const ExtraMap& draw(Random& random);

 private:
  void place_cells(Random& random);
  bool place_walls(Random& random);
  bool all_reachable();

  Grid grid_;
  std::size_t obstacles_;
  ExtraMap map_;
  std::vector<Cell> free_;  // where walls may still go
  std::vector<std::int32_t> distances_;
};

}  // namespace kindred
