// What a search for policies is asked and what it answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/methods/policy_search/evidence/evidence.h"

namespace kindred::policy_search {

struct SearchOptions {
  bool tables = false;      ///< Policies are tables; the data must be interned, actions discrete.
  std::int64_t k = 0;       ///< 0: to be found.
  std::int64_t k_max = 12;  ///< The most to look for.
  std::int64_t starts = 16;
  std::int64_t seed = 0;
  std::int64_t cosines = 60;  ///< Of the richer features; 0: linear features only.
  double ridge = 10.0;
  Links links{};  ///< What is known of the episodes beforehand.
};

/// The best answer with k clusters.
struct Answer {
  ExactFit fit;
  HeldOutScore held_out;
  std::int64_t start = 0;  ///< It came from.
  PairedGain gain;         ///< Over the best answer with fewer clusters.
  bool simple = false;     ///< Its clusters also are those of policies much simpler than tables.
  double agreement = 1.0;  ///< Mean NMI with the answers of the other starts for this k.
  /// What conflicts say of every two of its clusters; empty where they were not looked for.
  std::vector<PairVerdict> pairs;
  /// Standard errors by which they conflict, all pairs together; 0 where a cluster is too small.
  double conflict = 0.0, foretold = 0.0;
  /// Whether on features that predict better as many clusters do not.
  bool is_one_policy_as_well = false;
  bool is_learned = false;   ///< Its policies are on features that a network learned.
  double persistence = 1.0;  ///< NMI of the labels that each half of the steps leads to.

  Considered in_brief() const {
    return {.k = fit.k,
            .v = held_out.v,
            .gain = gain.mean,
            .gain_error = gain.error,
            .agreement = agreement,
            .relations = RelationCounts::of(pairs),
            .conflict = conflict};
  }
};

struct SearchResult {
  std::shared_ptr<const Evidence> evidence;  ///< By the features that predict best.
  std::vector<Answer> answers;               ///< By k, from 1; some k may be missing.
  std::size_t chosen = 0;                    ///< Among the answers.
  std::vector<Answer> alternatives;          ///< Unlike the answer, as good, with as many clusters.
  std::vector<RestartSummary> restarts;  ///< Each start at the chosen k, if it had an answer there.
  std::int64_t best_restart = 0;         ///< The one whose answer was chosen.
  std::vector<TraceEntry> trace;
  double statistics_seconds = 0.0;  ///< That making evidence of the data took.
  /// Of the data as recorded, where the partition was found in another view: of it policies are
  /// made.
  std::shared_ptr<const Evidence> recorded;
  std::optional<PolicyCount> count;  ///< Where conflicts were looked for.

  const Answer& answer() const { return answers[chosen]; }
};

/// The episodes worth searching, in order: all, or where there are too many a sample that follows
/// from their ids. Throws InvalidArgument when observations have too many numbers for statistics.
std::vector<std::int64_t> episodes_to_search(const Trajectories& data,
                                             const SearchOptions& options);

}  // namespace kindred::policy_search
