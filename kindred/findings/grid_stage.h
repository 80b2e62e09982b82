// Gridworlds as stages: maps, and what lies and moves on them.
#pragma once

#include <span>
#include <string>

#include "kindred/findings/stage.h"
#include "kindred/render/grid_scene.h"

namespace kindred::findings {

class GridStage final : public Stage {
 public:
  explicit GridStage(const Trajectories& data);

  Json setting() const override;
  void add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                 Json& trajectory) const override;

  /// What a step of the data shows.
  GridScene scene(std::int64_t step) const;
  /// Of the distinct observations; empty when they are not interned.
  const std::vector<GridScene>& scenes() const { return scenes_; }
  /// Whether all episodes have the walls and the goal of the first.
  bool is_fixed() const { return fixed_; }
  /// Of the square that places of all episodes lie in: the map, or around the goal.
  int side() const { return fixed_ ? scene(0).size : 2 * scene(0).size - 1; }
  const std::string& environment() const { return environment_; }

  static int number(Cell cell, int side) { return cell.row * side + cell.column; }

 private:
  std::vector<float> observation(std::int64_t step) const;
  GridScene scene_of(std::span<const float> values) const;
  bool has_fixed_map() const;

  const Trajectories& data_;
  std::string environment_;
  GridShape shape_{};
  std::vector<GridScene> scenes_;
  bool fixed_ = true;
};

}  // namespace kindred::findings
