// How a route through a gridworld is drawn so that every pass through a cell stays visible: as on a
// road, each pass keeps to the right, and later ones further out.
#pragma once

#include <vector>

#include "kindred/render/grid_map.h"
#include "kindred/render/signs.h"

namespace kindred::render {

struct GridWay {
  std::vector<WayPoint> line;
  std::vector<Point> places;        ///< [cells]: where the agent is drawn.
  std::vector<std::size_t> pauses;  ///< Cells that are the same as the one before.
};

GridWay lay_way(const std::vector<Cell>& cells, const GridMap& map);

}  // namespace kindred::render
