#include "kindred/envs/grid.h"

#include <algorithm>

namespace kindred {

std::vector<std::string> move_names() { return {"up", "down", "left", "right", "stay"}; }

Cell neighbour(Cell cell, Move move) {
  constexpr Cell kSteps[kMoves] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {0, 0}};
  const Cell step = kSteps[static_cast<int>(move)];
  return {cell.row + step.row, cell.column + step.column};
}

bool Grid::is_wall(Cell cell) const {
  return cell.row < 1 || cell.row > last() || cell.column < 1 || cell.column > last();
}

Cell Grid::after(Cell cell, Move move) const {
  const Cell target = neighbour(cell, move);
  return is_wall(target) ? cell : target;
}

SlipperyMoves::SlipperyMoves(std::int64_t states, double slip, const Rule& rule) : slip_(slip) {
  table_.reserve(static_cast<std::size_t>(states * kMoves));
  for (std::int32_t state = 0; state < states; ++state)
    for (std::int32_t move = 0; move < kMoves; ++move)
      table_.push_back(rule(state, static_cast<Move>(move)));
}

GridPicture::GridPicture(const Grid& grid, int planes, std::span<float> out)
    : size_(grid.size()), planes_(planes), out_(out) {
  std::ranges::fill(out_, 0.0f);
  for (int row = 0; row < size_; ++row)
    for (int column = 0; column < size_; ++column)
      if (grid.is_wall({row, column})) mark({row, column}, 0);
}

void GridPicture::mark(Cell cell, int plane) {
  out_[static_cast<std::size_t>((cell.row * size_ + cell.column) * planes_ + plane)] = 1.0f;
}

OptionTable describe_grid(std::int64_t& size, std::int64_t smallest_size, double& slip,
                          std::int64_t& horizon) {
  return {
      integer("size", size, smallest_size, 33, "Rows and columns, the ring of walls included."),
      real("slip", slip, 0.0, 1.0, "Probability that a random move replaces the chosen one."),
      integer("horizon", horizon, 1, 1'000'000, "Steps after which an episode is cut off."),
  };
}

}  // namespace kindred
