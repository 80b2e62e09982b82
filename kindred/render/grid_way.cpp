#include "kindred/render/grid_way.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace kindred::render {
namespace {

constexpr double kLane = 0.13;      // of a cell's side, from one pass to the next
constexpr std::size_t kLanes = 3;   // on each side
constexpr double kPause = 0.11;     // of a cell's side, from one pause to the next
constexpr std::size_t kPauses = 4;  // side by side

using Edge = std::array<int, 4>;

Edge edge_of(Cell from, Cell to) { return {from.row, from.column, to.row, to.column}; }

Point direction(Cell from, Cell to) {
  return {1.0 * (to.column - from.column), 1.0 * (to.row - from.row)};
}

double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }

/// How far each step is moved to the right of its direction, as a share of a cell's side.
std::vector<Point> lane_shifts(const std::vector<Cell>& cells) {
  std::map<Edge, std::size_t> passes;
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) ++passes[edge_of(cells[i], cells[i + 1])];
  std::map<Edge, std::size_t> before;
  std::vector<Point> shifts(cells.size());
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const auto edge = edge_of(cells[i], cells[i + 1]), back = edge_of(cells[i + 1], cells[i]);
    const auto lane = before[edge]++ % kLanes;
    if (cells[i] == cells[i + 1] || (passes[edge] == 1 && !passes.contains(back))) continue;
    const Point ahead = direction(cells[i], cells[i + 1]);
    const double right = kLane * (static_cast<double>(lane) + 0.5) / std::sqrt(dot(ahead, ahead));
    shifts[i] = {-right * ahead.y, right * ahead.x};
  }
  return shifts;
}

/// Where the line turns, relative to the middle of a cell: in one point, or in two on the way back.
std::vector<Point> turn(Point in, Point in_shift, Point out, Point out_shift) {
  if (cross(in, out) != 0.0) return {in_shift + out_shift};
  if (dot(in, out) < 0.0) return {in_shift, out_shift};
  return {middle(in_shift, out_shift)};
}

}  // namespace

GridWay lay_way(const std::vector<Cell>& cells, const GridMap& map) {
  const auto shifts = lane_shifts(cells);
  GridWay way;
  for (std::size_t begin = 0, end = 0; begin < cells.size(); begin = end) {
    while (end < cells.size() && cells[end] == cells[begin]) ++end;
    std::vector<Point> turns;
    if (begin == 0)
      turns = {shifts[end - 1]};
    else if (end == cells.size())
      turns = {shifts[begin - 1]};
    else
      turns = turn(direction(cells[begin - 1], cells[begin]), shifts[begin - 1],
                   direction(cells[end - 1], cells[end]), shifts[end - 1]);
    for (const Point shift : turns)
      way.line.push_back(
          {map.centre(cells[begin]) + map.side() * shift, share(begin, cells.size())});
    const Point place = middle(way.line[way.line.size() - turns.size()].at, way.line.back().at);
    for (std::size_t i = begin; i < end; ++i) {
      const double aside = kPause * map.side() * static_cast<double>((i - begin) % kPauses);
      way.places.push_back(place + Point{aside, aside});
      if (i > begin) way.pauses.push_back(i);
    }
  }
  return way;
}

}  // namespace kindred::render
