// Finds the partition into policies, and how many there are, by the held-out score V alone.
//
// From many random starts with more clusters than wanted, rounds of exact policies and joinings of
// the closest two clusters lead down to one cluster, so every start gives an answer for every k.
// They run on plain linear features, where a round costs microseconds per episode; the best answers
// for each k are then fitted and judged with richer features, under which clusters that are only
// regions of the states of one policy no longer predict better than that one policy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/policies/evidence.h"

namespace kindred {

struct SearchOptions {
  bool tables = false;      ///< Policies are tables; the data must be interned, actions discrete.
  std::int64_t k = 0;       ///< 0: to be found.
  std::int64_t k_max = 12;  ///< The most to look for.
  std::int64_t starts = 16;
  std::int64_t seed = 0;
  std::int64_t cosines = 60;  ///< Of the richer features; 0: linear features only.
  double ridge = 10.0;
  /// How much better, in nats per step of the two, every two clusters must be told apart than taken
  /// for one, for their number to be believed.
  double separation = 0.08;
  Links links{};  ///< What is known of the episodes beforehand.
};

/// The best answer with k clusters.
struct Answer {
  ExactFit fit;
  HeldOutScore held_out;
  std::int64_t start = 0;   ///< It came from.
  double separation = 0.0;  ///< Of its two closest clusters, by the last test made; 0 with one.
  double needed = 0.0;      ///< The least separation that would have passed that test.
  bool judged = false;      ///< Whether that test was made.
  bool checked = false;     ///< By many more features; that is then the last test.
  PairedGain gain;          ///< Over the best answer with fewer clusters.
  double agreement = 1.0;   ///< Mean NMI with the answers of the other starts for this k.
  bool simple = false;      ///< Its clusters also are those of policies much simpler than tables.
  /// What conflicts say of every two of its clusters; empty where they were not looked for.
  std::vector<PairVerdict> pairs;
  double conflict = 0.0;     ///< Standard errors by which they conflict, all pairs together.
  double persistence = 1.0;  ///< NMI of the labels that each half of the steps leads to.

  Considered in_brief() const {
    return {.k = fit.k,
            .v = held_out.v,
            .gain = gain.mean,
            .gain_error = gain.error,
            .separation = separation,
            .needed = needed,
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

/// Every rank of the run has all of `data`; what need not wait for each other is spread over them.
/// Throws Interrupted when asked to stop.
SearchResult search_partitions(const Trajectories& data, const SearchOptions& options,
                               const RunContext& run);

}  // namespace kindred
