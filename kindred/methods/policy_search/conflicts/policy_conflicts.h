// Whether two groups of episodes were produced by two policies: do they act differently in like
// states, across steps their labels were not found in, counted over episodes?
//
// For a step of one group, take the nearest state of the other, and the state of another episode of
// its own group at like distance: how much farther is the action there than here? The two
// directions are averaged, so that groups that differ only in their noise do not differ. It
// approximates no policy, so no misfit can fool it, and few steps are enough where ways part.
#pragma once

#include <cstdint>
#include <memory>

#include "kindred/core/workers.h"
#include "kindred/methods/policy_search/conflicts/like_states.h"
#include "kindred/methods/policy_search/conflicts/step_halves.h"
#include "kindred/methods/policy_search/conflicts/verdicts.h"

namespace kindred::policy_search {

/// What is asked of like states. Answers do not depend on the number of threads; functions throw
/// Interrupted when asked to stop.
class ConflictTest {
 public:
  virtual ~ConflictTest() = default;

  virtual PartitionVerdict judge(const HalvedLabels& partition) const = 0;

  /// Whether episodes act differently from one another, whatever the groups: in a state like one
  /// that the same episode was in during the other half of the steps, the action is nearer to that
  /// one than to another episode's. One policy without memory has no such effect.
  virtual EpisodeEffect episode_effect() const = 0;
};

/// Where states are near one another by the background's metric. Actions are compared after what
/// its common policy expects; `seen` is what policies of partitions see of the data. All but
/// `background` must outlive it.
std::unique_ptr<ConflictTest> in_near_states(Background background, const Trajectories& seen,
                                             const StepHalves& halves, const Rules& rules,
                                             const Workers& workers);

/// Where states are the same, of data with discrete actions whose observations repeat.
std::unique_ptr<ConflictTest> in_same_states(const Trajectories& data, const StepHalves& halves,
                                             const Rules& rules);

}  // namespace kindred::policy_search
