// Conflicts between the clusters of partitions: labels are found again in one half of the steps and
// tested in the other.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "kindred/methods/policy_search/conflicts/policy_conflicts.h"
#include "kindred/methods/policy_search/partitions/partition_search.h"

namespace kindred::policy_search {

/// Whether both halves of the steps lead to it, and to no two clusters that act alike.
bool none_same(const Answer& answer, const Rules& rules);
/// And whether its clusters conflict.
bool is_partition_of_policies(const Answer& answer, const Rules& rules);

class PartitionConflicts {
 public:
  using EvidenceOf = std::function<std::shared_ptr<const Evidence>(const Trajectories&)>;

  /// Steps are compared against the background; `evidence_of` half of what policies see, `seen`,
  /// finds labels again. `seen`, `rules` and `workers` must outlive it.
  PartitionConflicts(Background background, const Trajectories& seen, const EvidenceOf& evidence_of,
                     const Rules& rules, const Workers& workers);
  /// Policies are tables.
  PartitionConflicts(const Trajectories& data, const Rules& rules, const Workers& workers);

  /// Notes pairs, conflict and persistence in the answer.
  void judge(Answer& answer) const;
  EpisodeEffect episode_effect() const { return test_->episode_effect(); }

 private:
  StepHalves halves_;
  std::unique_ptr<const ConflictTest> test_;
  std::array<std::shared_ptr<const Evidence>, 2> half_;
};

}  // namespace kindred::policy_search
