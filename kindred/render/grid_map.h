// Where the cells of a gridworld stand in a picture, and the ground they are drawn on.
#pragma once

#include "kindred/render/grid_scene.h"
#include "kindred/render/svg.h"
#include "kindred/render/theme.h"

namespace kindred::render {

class GridMap {
 public:
  GridMap(Point corner, int size, double side, const Theme& theme)
      : corner_(corner), size_(size), side_(side), theme_(theme) {}

  double side() const { return side_; }  ///< Of a cell.
  Size size() const { return {size_ * side_, size_ * side_}; }
  Point upper_left(Cell cell) const {
    return corner_ + Point{cell.column * side_, cell.row * side_};
  }
  Point centre(Cell cell) const { return upper_left(cell) + Point{0.5 * side_, 0.5 * side_}; }
  /// Where a small text in a corner of the cell is anchored: 0 upper left, 1 upper right, 2 lower
  /// left, 3 lower right.
  Point corner_text(Cell cell, int corner) const;

  /// Floor, lines between cells, walls.
  void draw_ground(Svg& svg, const GridScene& scene) const;

 private:
  Point corner_;
  int size_;
  double side_;
  const Theme& theme_;
};

}  // namespace kindred::render
