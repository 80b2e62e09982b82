// An episode in a gridworld: the scenes its observations show and what happened between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kindred/render/episode.h"
#include "kindred/render/grid_scene.h"

namespace kindred::render {

struct GridTrace {
  std::vector<GridScene> scenes;  ///< [steps]: before each step.
  std::vector<Move> chosen;       ///< [steps]
  /// Where the agent was: before each step, and once more where the step that ended the episode
  /// leads to the goal.
  std::vector<Cell> cells;

  /// Whether the step is known to have led somewhere other than the chosen move does.
  bool slipped(std::size_t step) const;
  /// The steps that slipped.
  std::vector<std::size_t> slips() const;
  /// The move the agent made, "left", or "elsewhere"; only of steps known to have led somewhere.
  std::string went(std::size_t step) const;
  /// "step 3: chose up, the move was left"; only of steps known to have led somewhere.
  std::string describe(std::size_t step) const;
  /// Where the step that ended the episode led, if that is known.
  std::optional<Cell> end() const;
  /// After how many steps the agent stood on an object of the first scene still lying there.
  std::optional<std::size_t> taken_at(const GridObject& object) const;
};

/// Throws InvalidArgument when the episode is not one of a gridworld.
GridTrace trace_grid(const Episode& episode);

}  // namespace kindred::render
