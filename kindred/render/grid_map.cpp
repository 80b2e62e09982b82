#include "kindred/render/grid_map.h"

namespace kindred::render {

Point GridMap::corner_text(Cell cell, int corner) const {
  constexpr double kInset = 3.0, kAscent = 10.0;
  const bool right = corner % 2 == 1, low = corner >= 2;
  return upper_left(cell) +
         Point{right ? side_ - kInset : kInset, low ? side_ - kInset - 1.0 : kInset + kAscent};
}

void GridMap::draw_ground(Svg& svg, const GridScene& scene) const {
  svg.rectangle(corner_, size(), {.fill = theme_.floor});
  Outline lines, walls;
  for (int i = 1; i < size_; ++i) {
    lines.move(upper_left({i, 0})).line(upper_left({i, size_}));
    lines.move(upper_left({0, i})).line(upper_left({size_, i}));
  }
  for (const Cell cell : scene.walls) walls.square(upper_left(cell), side_);
  svg.path(lines, {.stroke = theme_.faint});
  svg.path(walls, {.fill = theme_.wall, .role = "walls"});
}

}  // namespace kindred::render
