// Where episodes can be watched step by step: on the map of a gridworld, or in a plane.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kindred/data/trajectories.h"
#include "kindred/findings/column.h"

namespace kindred::findings {

class Stage {
 public:
  virtual ~Stage() = default;

  /// What all episodes share.
  virtual Json setting() const = 0;
  /// The given steps of an episode, under the key it belongs.
  virtual void add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                         Json& trajectory) const = 0;
};

/// Null where the data shows neither. `data` must outlive it.
std::unique_ptr<Stage> make_stage(const Trajectories& data);

}  // namespace kindred::findings
