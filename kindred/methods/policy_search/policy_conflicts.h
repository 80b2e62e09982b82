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

/// The label of every episode by the policies of its group in one half, fitted to other episodes.
std::vector<std::int32_t> labels_in(const Evidence& half, std::span<const std::int32_t> labels,
                                    std::int64_t k);

/// The data with what one policy leaves unexplained as actions: the logarithm of each squared
/// residual. Policies that differ in nothing but their noise differ in it.
Trajectories with_noise_as_action(const Trajectories& data, const FeatureMap& map,
                                  const ActionTargets& targets, const Workers& workers);

/// Looks for conflicts in every pair of every partition. `map` is that of one policy for
/// everything: actions are compared after what it expects of the state, distances are by its
/// metric. `seen` is what the partitions' policies see of the data. Throws Interrupted when asked
/// to stop.
std::vector<std::vector<PairVerdict>> find_conflicts(
    const Trajectories& data, const Trajectories& seen, const FeatureMap& map,
    const ActionTargets& targets, const StepHalves& halves,
    std::span<const HalvedLabels> partitions, const Rules& rules, const Workers& workers);

}  // namespace kindred::policy_search
