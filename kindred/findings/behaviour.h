// What the trajectories of each cluster do, by place or over time, and single trajectories step by
// step: a gridworld, a plane, or numbers over time.
#pragma once

#include <memory>

#include "kindred/findings/column.h"
#include "kindred/findings/run_data.h"

namespace kindred::findings {

class Behaviour {
 public:
  virtual ~Behaviour() = default;

  /// All clusters.
  virtual Json clusters() const = 0;
  /// Numbers that show one step of a trajectory: long ones are thinned by it.
  virtual std::int64_t step_numbers() const = 0;
  /// The part of a trajectory that only this kind of data has, at the given steps of the episode,
  /// under the key it belongs.
  virtual void add_steps(std::int64_t episode, const std::vector<std::int64_t>& steps,
                         Json& trajectory) const = 0;
};

/// `found` must outlive it.
std::unique_ptr<Behaviour> make_behaviour(const RunData& found);

std::unique_ptr<Behaviour> make_grid_behaviour(const RunData& found);
std::unique_ptr<Behaviour> make_path_behaviour(const RunData& found);
std::unique_ptr<Behaviour> make_curves_behaviour(const RunData& found);

}  // namespace kindred::findings
