#include "kindred/envs/extra_map.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr std::array kSteps = {Move::kUp, Move::kDown, Move::kLeft, Move::kRight};

bool is_next_to_or_on(Cell a, Cell b) {
  return std::abs(a.row - b.row) + std::abs(a.column - b.column) <= 1;
}

struct Shape {
  int size;
  ExtraPlanes planes;
};

/// No number is both four and five times a square, so that the length alone tells the shape.
Shape shape_of(std::size_t length) {
  for (const bool shared : {false, true}) {
    const ExtraPlanes planes{shared};
    const auto count = static_cast<std::size_t>(planes.count());
    const auto cells = static_cast<double>(length) / static_cast<double>(count);
    const auto size = static_cast<std::size_t>(std::lround(std::sqrt(cells)));
    if (size > 2 && size <= kLargestGrid && size * size * count == length)
      return {static_cast<int>(size), planes};
  }
  throw InvalidArgument(
      "an observation of extra holds 4 or 5 planes of a square map of at most {} rows, not {} "
      "numbers",
      kLargestGrid, length);
}

}  // namespace

ExtraMap::ExtraMap(int map_size)
    : size(map_size), walls(static_cast<std::size_t>(map_size * map_size), 0) {}

void paint(const ExtraMap& map, ExtraPlanes planes, std::span<float> out) {
  const auto stride = static_cast<std::size_t>(planes.count());
  std::ranges::fill(out, 0.0f);
  for (std::size_t i = 0; i < map.walls.size(); ++i)
    out[i * stride + ExtraPlanes::kWalls] = static_cast<float>(map.walls[i]);
  const auto mark = [&](Cell cell, int plane) {
    out[GridPicture::index(map.size, planes.count(), cell, plane)] = 1.0f;
  };
  mark(map.agent, ExtraPlanes::kAgent);
  mark(map.goal, ExtraPlanes::kGoal);
  for (int i = 0; i < ExtraMap::kSpecialCells; ++i)
    if (const auto& cell = map.special[static_cast<std::size_t>(i)]) mark(*cell, planes.special(i));
}

ExtraMap decode_extra(std::span<const float> observation) {
  const auto [size, planes] = shape_of(observation.size());
  const Grid grid(size);
  ExtraMap map(size);
  std::size_t agents = 0, goals = 0, specials = 0, gaps = 0;
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column) {
      const Cell cell = {row, column};
      const auto marked = [&, planes = planes.count()](int plane) {
        return observation[GridPicture::index(map.size, planes, cell, plane)] != 0.0f;
      };
      map.walls[map.index(cell)] = marked(ExtraPlanes::kWalls);
      gaps += grid.is_wall(cell) && !map.is_wall(cell);
      if (marked(ExtraPlanes::kAgent) && !map.is_wall(cell)) map.agent = cell, ++agents;
      if (marked(ExtraPlanes::kGoal) && !map.is_wall(cell)) map.goal = cell, ++goals;
      for (int plane = ExtraPlanes::kSpecial; plane < planes.count(); ++plane) {
        if (!marked(plane)) continue;
        const auto i =
            planes.shared ? specials : static_cast<std::size_t>(plane - ExtraPlanes::kSpecial);
        if (++specials <= map.special.size()) map.special[i] = cell;
      }
    }
  if (agents != 1 || goals != 1 || specials > map.special.size() || gaps > 0)
    throw InvalidArgument(
        "an observation of extra shows, outside its walls, one agent and one goal, not {} and {}; "
        "at "
        "most two special cells, not {}; and a ring of walls, not one with {} gaps",
        agents, goals, specials, gaps);
  return map;
}

void walking_distances(const ExtraMap& map, Cell from, std::span<std::int32_t> out) {
  std::array<Cell, std::size_t{kLargestGrid} * kLargestGrid> queue;
  std::size_t first = 0, last = 0;
  std::ranges::fill(out, -1);
  const auto arrive = [&](Cell cell, std::int32_t distance) {
    out[map.index(cell)] = distance;
    queue[last++] = cell;
  };
  arrive(from, 0);
  while (first < last) {
    const Cell cell = queue[first++];
    if (cell == map.goal && cell != from) continue;
    for (const Move step : kSteps) {
      const Cell next = neighbour(cell, step);
      if (!map.is_wall(next) && out[map.index(next)] < 0) arrive(next, out[map.index(cell)] + 1);
    }
  }
}

ExtraMapDrawer::ExtraMapDrawer(int size, int obstacles)
    : grid_(size),
      obstacles_(static_cast<std::size_t>(obstacles)),
      map_(size),
      distances_(map_.walls.size()) {
  free_.reserve(map_.walls.size());
}

const ExtraMap& ExtraMapDrawer::draw(Random& random) {
  do place_cells(random);
  while (!place_walls(random) || !all_reachable());
  return map_;
}

void ExtraMapDrawer::place_cells(Random& random) {
  std::array<Cell, 4> drawn;
  for (auto cell = drawn.begin(); cell != drawn.end();) {
    *cell = grid_.cell_at(
        static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(grid_.free_cells()))));
    if (std::find(drawn.begin(), cell, *cell) == cell) ++cell;
  }
  map_.agent = drawn[0];
  map_.goal = drawn[1];
  map_.special = {drawn[2], drawn[3]};
}

bool ExtraMapDrawer::place_walls(Random& random) {
  free_.clear();
  for (int row = 0; row < map_.size; ++row)
    for (int column = 0; column < map_.size; ++column) {
      const Cell cell = {row, column};
      const bool in_ring = grid_.is_wall(cell);
      map_.walls[map_.index(cell)] = in_ring;
      if (!in_ring && !is_next_to_or_on(cell, map_.agent) && !is_next_to_or_on(cell, map_.goal) &&
          !is_next_to_or_on(cell, *map_.special[0]) && !is_next_to_or_on(cell, *map_.special[1]))
        free_.push_back(cell);
    }
  if (free_.size() < obstacles_) return false;
  for (std::size_t i = 0; i < obstacles_; ++i) {
    std::swap(free_[i], free_[i + random.below(free_.size() - i)]);
    map_.walls[map_.index(free_[i])] = 1;
  }
  return true;
}

bool ExtraMapDrawer::all_reachable() {
  walking_distances(map_, map_.agent, distances_);
  const auto reached = [&](Cell cell) { return distances_[map_.index(cell)] >= 0; };
  return reached(map_.goal) && reached(*map_.special[0]) && reached(*map_.special[1]);
}

}  // namespace kindred
