// A minibatch of whole trajectories as a recurrent network wants them: longest first, time-major,
// and packed, so that nothing is padded. What repeats is kept once: a step refers to its distinct
// observation and to its distinct (observation, action) pair by index, and a network evaluates
// whatever does not depend on the past once per distinct row.
#pragma once

#include <cstdint>
#include <vector>

namespace kindred {

struct SequenceBatch {
  std::vector<std::int64_t> lengths;       ///< [sequences], at least 1, never increasing.
  std::vector<std::int64_t> time_offsets;  ///< [longest + 1]: sequence b's step at time t is number
                                           ///< time_offsets[t] + b.
  std::vector<float> observations;         ///< [distinct observations, inputs]
  std::vector<std::int32_t> observation_of_step;  ///< [steps]
  std::vector<float> pairs;                       ///< [distinct pairs, inputs + action width]
  std::vector<std::int32_t> pair_of_step;         ///< [steps]
  std::vector<std::int32_t> discrete_actions;     ///< [steps], or empty.
  std::vector<float> continuous_actions;          ///< [steps, action width], or empty.

  std::int64_t sequences() const { return static_cast<std::int64_t>(lengths.size()); }
  std::int64_t longest() const { return lengths.empty() ? 0 : lengths.front(); }
  std::int64_t steps() const { return time_offsets.empty() ? 0 : time_offsets.back(); }
  /// Sequences that have a step at time t.
  std::int64_t active(std::int64_t t) const {
    return time_offsets[static_cast<std::size_t>(t) + 1] -
           time_offsets[static_cast<std::size_t>(t)];
  }
};

/// Sets `lengths` (which must not increase) and the packing that follows from it.
void pack(std::vector<std::int64_t> lengths, SequenceBatch& batch);

}  // namespace kindred
