#include "kindred/render/grid_scene.h"

#include <algorithm>
#include <cmath>

namespace kindred {
namespace {

constexpr int kSmallest = 3;  // one free cell inside the ring
enum Plane : std::int64_t { kWalls, kAgent, kGoal, kFirstObject };

/// The cells marked in one plane.
std::vector<Cell> marked(std::span<const float> observation, const GridShape& shape,
                         std::int64_t plane) {
  std::vector<Cell> cells;
  auto at = static_cast<std::size_t>(plane);
  for (int row = 0; row < shape[0]; ++row)
    for (int column = 0; column < shape[1]; ++column, at += static_cast<std::size_t>(shape[2]))
      if (observation[at] == 1.0f) cells.push_back({row, column});
  return cells;
}

bool has_ring(const GridScene& scene) {
  for (int i = 0; i < scene.size; ++i)
    for (const Cell cell :
         {Cell{0, i}, Cell{scene.size - 1, i}, Cell{i, 0}, Cell{i, scene.size - 1}})
      if (!scene.is_wall(cell)) return false;
  return true;
}

bool fits(std::span<const float> observation, const GridShape& shape) {
  const auto [rows, columns, planes] = shape;
  return rows >= kSmallest && rows == columns && planes >= kFirstObject &&
         static_cast<std::int64_t>(observation.size()) == rows * columns * planes &&
         std::ranges::all_of(observation, [](float x) { return x == 0.0f || x == 1.0f; });
}

}  // namespace

bool GridScene::is_wall(Cell cell) const { return std::ranges::find(walls, cell) != walls.end(); }

Cell GridScene::after(Cell cell, Move move) const {
  const Cell target = neighbour(cell, move);
  return is_wall(target) ? cell : target;
}

std::optional<GridScene> decode_grid(std::span<const float> observation, const GridShape& shape) {
  if (!fits(observation, shape)) return std::nullopt;
  const auto agents = marked(observation, shape, kAgent);
  const auto goals = marked(observation, shape, kGoal);
  if (agents.size() != 1 || goals.size() > 1) return std::nullopt;

  GridScene scene{.size = static_cast<int>(shape[0]),
                  .walls = marked(observation, shape, kWalls),
                  .agent = agents.front()};
  if (!has_ring(scene) || scene.is_wall(scene.agent)) return std::nullopt;
  if (!goals.empty()) scene.goal = goals.front();
  for (std::int64_t plane = kFirstObject; plane < shape[2]; ++plane)
    for (const Cell cell : marked(observation, shape, plane))
      scene.objects.push_back({static_cast<int>(plane - kFirstObject), cell});
  return scene;
}

std::optional<GridShape> find_grid_shape(std::span<const float> observation) {
  const auto count = static_cast<std::int64_t>(observation.size());
  for (std::int64_t size = kSmallest; size * size * kFirstObject <= count; ++size) {
    const GridShape shape = {size, size, count / (size * size)};
    if (decode_grid(observation, shape)) return shape;
  }
  return std::nullopt;
}

}  // namespace kindred
