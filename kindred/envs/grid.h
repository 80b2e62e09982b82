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

/// The cell a move points to, whatever is there.
Cell neighbour(Cell cell, Move move);

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

/// Deterministic moves, tabulated once, of which the environment ignores a share: with probability
/// `slip` it executes one of the five moves at random, the chosen one included.
class SlipperyMoves {
 public:
  using Rule = std::function<std::int32_t(std::int32_t state, Move move)>;

  SlipperyMoves(std::int64_t states, double slip, const Rule& rule);

  std::int32_t next(std::int32_t state, std::int32_t action, Random& random) const {
    if (random.uniform() < slip_) action = static_cast<std::int32_t>(random.below(kMoves));
    return table_[static_cast<std::size_t>(state * kMoves + action)];
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
  void mark(Cell cell, int plane);

 private:
  int size_;
  int planes_;
  std::span<float> out_;
};

/// The options every gridworld has, described once.
OptionTable describe_grid(std::int64_t& size, std::int64_t smallest_size, double& slip,
                          std::int64_t& horizon);

}  // namespace kindred
