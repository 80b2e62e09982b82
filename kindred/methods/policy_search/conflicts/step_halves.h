// Each episode's steps in two halves, so that what was found in one can be tested in the other.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/data/trajectories.h"

namespace kindred::policy_search {

/// The blocks of steps of every episode, alternately in one half and in the other.
class StepHalves {
 public:
  explicit StepHalves(const Trajectories& data);

  /// [steps]: 0 or 1.
  const std::vector<std::uint8_t>& of_steps() const { return halves_; }
  /// The steps of one half as a dataset of their own, with the same episodes; an episode of one
  /// step has it in both.
  Trajectories half(const Trajectories& data, int which) const;

 private:
  std::vector<std::uint8_t> halves_;
};

/// Whether a step is in the second half of its episode.
inline bool is_late(const Trajectories& data, std::int64_t episode, std::int64_t step) {
  return 2 * (step - data.offsets[episode]) >= data.length(episode);
}

}  // namespace kindred::policy_search
