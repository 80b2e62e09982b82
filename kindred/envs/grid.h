// What gridworlds share: cells inside a ring of walls, five moves, slipping, and pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/core/random.h"

namespace kindred {

struct Cell {
  int row = 0;
  int column = 0;
  friend bool operator==(const Cell&, const Cell&) = default;
};

/// The actions of every gridworld, by number.
enum class Move : std::int32_t { kUp, kDown, kLeft, kRight, kStay };
inline constexpr std::int32_t kMoves = 5;
std::vector<std::string> move_names();

/// The cell one move away, walls or not.
constexpr Cell neighbour(Cell cell, Move move) {
  constexpr Cell kSteps[kMoves] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {0, 0}};
  const Cell step = kSteps[static_cast<int>(move)];
  return {cell.row + step.row, cell.column + step.column};
}

/// The move the environment executes: with probability `slip` one of the five at random, the chosen
/// one included.
inline Move executed(std::int32_t chosen, double slip, Random& random) {
  if (random.uniform() < slip) chosen = static_cast<std::int32_t>(random.below(kMoves));
  return static_cast<Move>(chosen);
}

inline constexpr int kLargestGrid = 33;  ///< Rows and columns a map can have.

/// A square map of size x size cells whose outermost ring is wall. Free cells have rows and columns
/// 1..last() and are numbered row by row.
class Grid {
 public:
  explicit Grid(std::int64_t size) : size_(static_cast<int>(size)) {}

  int size() const { return size_; }
  int last() const { return size_ - 2; }
  std::int32_t free_cells() const { return last() * last(); }
  bool is_wall(Cell cell) const;
  std::int32_t number_of(Cell cell) const { return (cell.row - 1) * last() + cell.column - 1; }
  Cell cell_at(std::int32_t number) const { return {number / last() + 1, number % last() + 1}; }

  /// Where a move leads: walking into a wall is staying.
  Cell after(Cell cell, Move move) const;

 private:
  int size_;
};

/// Deterministic moves, tabulated once, of which the environment ignores a share.
class SlipperyMoves {
 public:
  using Rule = std::function<std::int32_t(std::int32_t state, Move move)>;

  SlipperyMoves(std::int64_t states, double slip, const Rule& rule);

  std::int32_t next(std::int32_t state, std::int32_t action, Random& random) const {
    const auto move = static_cast<std::int32_t>(executed(action, slip_, random));
    return table_[static_cast<std::size_t>(state) * kMoves + static_cast<std::size_t>(move)];
  }

 private:
  double slip_;
  std::vector<std::int32_t> table_;  // [states, kMoves]
};

/// An observation of size x size x planes numbers, 0 or 1, the planes of a cell side by side.
/// Plane 0 is always the walls.
class GridPicture {
 public:
  GridPicture(const Grid& grid, int planes, std::span<float> out);
  void mark(Cell cell, int plane) { out_[index(size_, planes_, cell, plane)] = 1.0f; }

  /// Which number of such an observation is that of a cell in a plane.
  static std::size_t index(int size, int planes, Cell cell, int plane) {
    const auto place = std::int64_t{cell.row} * size + cell.column;
    return static_cast<std::size_t>(place * planes + plane);
  }

 private:
  int size_;
  int planes_;
  std::span<float> out_;
};

/// The options every gridworld has, described once.
OptionTable describe_grid(std::int64_t& size, std::int64_t smallest_size, double& slip,
                          std::int64_t& horizon);

}  // namespace kindred
