// Judges partitions that any method made as policy search judges its own: by the held-out score and
// by conflicts.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kindred/methods/policy_search/conflicts/partition_conflicts.h"
#include "kindred/methods/policy_search/evidence/plane_search.h"
#include "kindred/methods/policy_search/sight.h"

namespace kindred::policy_search {

/// The episodes that partitions of the data are judged by: all, or a sample. Nothing where no
/// policies to judge by can be made of the data.
std::optional<std::vector<std::int64_t>> episodes_to_judge(const Trajectories& data);

/// Whether as many numbers per observation as in pictures leave too few steps for each of them;
/// never where policies are tables.
bool too_wide_for_closed_form(const Trajectories& data);

/// Whether they are wide, but planes of zeros and ones, for which there are small networks.
bool judged_on_planes(const Trajectories& data);

/// Functions throw Interrupted when asked to stop.
class PartitionJudge {
 public:
  /// `judged` is what episodes_to_judge gives. Reads these episodes once.
  PartitionJudge(const Trajectories& data, std::vector<std::int64_t> judged,
                 const Workers& workers);

  /// V of the labels, which are of all episodes. The answer's own labels and k are of those that
  /// are judged: a cluster none of whose episodes is judged is missing.
  Answer judge(std::span<const std::int32_t> labels) const;
  /// One policy for everything.
  Answer judge_one() const;

  /// Whether the answer's clusters are believed to be policies, where the best answer with fewer
  /// has the given V: they predict better, and conflict. Notes their conflicts in it.
  bool believes(Answer& answer, double v_of_fewer);

  PairedGain gain(const Answer& from, const Answer& to) const;
  HeldOutJudgement compare(const Answer& one, const Answer& answer) const;

 private:
  HeldOutScore score(std::span<const std::int32_t> labels, std::int64_t k) const;

  std::vector<std::int64_t> judged_;
  Trajectories part_;
  Workers workers_;
  SearchOptions options_;
  Rules rules_;
  Sight sight_;                               // none where policies are tables, nor on planes
  std::shared_ptr<const Evidence> evidence_;  // none on planes
  std::unique_ptr<const PlaneJudge> planes_;
  std::unique_ptr<const PartitionConflicts> conflicts_;  // once they were asked for
};

/// Judges the labels of one partition against one policy for everything. Nothing where no policies
/// to judge by can be made of the data.
std::optional<HeldOutJudgement> judge_partition(const Trajectories& data,
                                                std::span<const std::int32_t> labels,
                                                const Workers& workers);

}  // namespace kindred::policy_search
