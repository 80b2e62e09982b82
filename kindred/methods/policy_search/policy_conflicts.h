// Whether two groups of episodes were produced by two policies: do they act differently in like
// states, across steps their labels were not found in, counted over episodes?
//
// For a step of one group, take the nearest state of the other, and the state of another episode of
// its own group at like distance: how much farther is the action there than here? The two
// directions are averaged, so that groups that differ only in their noise do not differ. It
// approximates no policy, so no misfit can fool it, and few steps are enough where ways part.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kindred/methods/policy_search/like_states.h"
#include "kindred/methods/policy_search/rules.h"
#include "kindred/policies/exact_centres.h"
#include "kindred/policies/feature_evidence.h"

namespace kindred::policy_search {

/// A partition and what each half of the blocks of steps says of it.
struct HalvedLabels {
  std::int64_t k = 0;
  /// Labels found in one half of the blocks, to be tested in the other: [2][episodes].
  std::array<std::vector<std::int32_t>, 2> labels;
  /// The policies of these groups in the half where the labels were found.
  std::array<std::shared_ptr<const ExactCentres>, 2> policies;
};

/// The label of every episode by the policies of its group in one half, fitted to other episodes.
std::vector<std::int32_t> labels_in(const Evidence& half, std::span<const std::int32_t> labels,
                                    std::int64_t k);

/// What conflicts say of a partition.
struct PartitionVerdict {
  std::vector<PairVerdict> pairs;
  /// Of all pairs together, in standard errors over episodes: with few episodes no pair may be
  /// decided although the whole is. 0 where a group has too few episodes to be judged.
  double z = 0.0;
};

class ConflictTest {
 public:
  /// Actions are compared after what the common policy expects of the state, distances are by its
  /// metric. `seen` is what policies of partitions see of the data. `seen`, `rules` and `workers`
  /// must outlive this.
  ConflictTest(const Trajectories& data, const Trajectories& seen, const CommonPolicy& common,
               const StepHalves& halves, const Rules& rules, const Workers& workers);

  /// Does not depend on the number of threads. Throws Interrupted when asked to stop.
  PartitionVerdict judge(const HalvedLabels& partition) const;

 private:
  const Trajectories& seen_;
  const Rules& rules_;
  const Workers& workers_;
  std::int64_t dim_, targets_;
  SampledHalves samples_;
};

/// Whether episodes act differently from one another, whatever the groups: in a state like one that
/// the same episode was in during the other half of the steps, the action is nearer to that one
/// than to another episode's. One policy without memory has no such effect.
EpisodeEffect episode_effect(const Trajectories& data, const CommonPolicy& common,
                             const StepHalves& halves, const Rules& rules, const Workers& workers);

}  // namespace kindred::policy_search
