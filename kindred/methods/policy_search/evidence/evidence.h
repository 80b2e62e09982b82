// What the search for policies asks of data: the best policies for any partition, and how well they
// predict what they have not seen. Policies have a closed form, so answers are exact.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/core/random.h"
#include "kindred/methods/policy_search/evidence/links.h"

namespace kindred::policy_search {

struct ExactRound {
  double objective = 0.0;           ///< J, after the policies were solved.
  std::int64_t changed = 0;         ///< Labels, afterwards.
  std::vector<std::int64_t> sizes;  ///< [k], before that.
};

/// A partition on its way up.
struct ExactFit {
  std::vector<std::int32_t> labels;  ///< [episodes], consecutive from 0.
  std::int64_t k = 0;
  std::vector<ExactRound> rounds;
  bool converged = false;  ///< The last round changed no label.

  double objective() const { return rounds.back().objective; }
};

/// A partition judged by episodes its policies have not seen.
///
/// The label of a held-out episode was chosen by looking at it, so a short one can always pick the
/// cluster that happens to suit it. What the label tells is therefore paid for: an episode of a
/// cluster with a share q of the episodes costs -log q nats besides.
struct HeldOutScore {
  double v = 0.0;             ///< The higher the better, in nats per step.
  std::vector<double> noise;  ///< The usual errors, per step; empty where errors are nats.
  /// The same of each cluster alone, [k, targets]; not known after joining.
  std::vector<double> own_noise;
  std::vector<double> errors;  ///< Of each piece.
  std::vector<double> naming;  ///< [episodes]: nats paid for the label.
};

/// What the label of each episode costs.
std::vector<double> naming_costs(std::span<const std::int32_t> labels);

/// Standard errors of a gain that counts.
inline constexpr double kErrors = 2.0;

/// How much better one partition predicts than another, on the same folds, per step.
struct PairedGain {
  double mean = 0.0;
  double error = 0.0;            ///< Standard error over episodes.
  double episodes_better = 0.0;  ///< Share of the episodes.
};

/// From what each episode costs before and after, in nats.
PairedGain paired_gain(std::span<const double> before, std::span<const double> after, double steps);

/// Two clusters, the lower number first.
using ClusterPair = std::pair<std::int32_t, std::int32_t>;

/// Labels are consecutive from 0 throughout. Safe to ask from several threads. Functions throw
/// Interrupted when those who made the evidence are asked to stop.
class Evidence {
 public:
  virtual ~Evidence() = default;

  virtual std::int64_t episodes() const = 0;
  virtual double steps() const = 0;

  /// Rounds from given labels, which keep the links, until none changes; clusters that lose their
  /// last episode go.
  virtual ExactFit fit(std::vector<std::int32_t> labels, const Links& links) const = 0;
  /// The pairs whose joining lowers J least, that of the least first; at most `most`.
  virtual std::vector<ClusterPair> closest_pairs(std::span<const std::int32_t> labels,
                                                 std::int64_t k, std::size_t most) const = 0;
  virtual HeldOutScore score(std::span<const std::int32_t> labels, std::int64_t k) const = 0;
  /// V by one draw of the folds instead of several.
  virtual double quick_score(std::span<const std::int32_t> labels, std::int64_t k) const = 0;
  /// The score of a partition after two of its clusters are taken for one.
  virtual HeldOutScore score_joined(const HeldOutScore& score, std::span<const std::int32_t> labels,
                                    ClusterPair pair) const = 0;
  /// How many nats each episode costs where errors are usually as in `usual`: [episodes].
  virtual std::vector<double> costs(const HeldOutScore& score, const HeldOutScore& usual) const = 0;

  /// Long episodes are judged in pieces; those of an episode are [first, that of the next one).
  virtual std::int64_t first_piece(std::int64_t episode) const = 0;
  /// Nats that each piece costs under every cluster's policy, fitted without the piece's fold:
  /// [pieces, k].
  virtual Matrix costs_everywhere(std::span<const std::int32_t> labels, std::int64_t k,
                                  const HeldOutScore& usual) const = 0;

  /// How episodes fit their own clusters' policies, fitted without the episode's fold. Those with
  /// no other episode in their cluster are left out.
  virtual HeldOutFit held_out_fit(std::span<const std::int32_t> labels, std::int64_t k,
                                  const HeldOutScore& judged) const = 0;

  /// Of some of the episodes; it can fit, but not judge.
  virtual std::unique_ptr<const Evidence> subset(std::span<const std::int64_t> episodes) const = 0;
  /// The policies of a partition.
  virtual std::shared_ptr<const Centres> centres(std::span<const std::int32_t> labels,
                                                 std::int64_t k,
                                                 const HeldOutScore& judged) const = 0;

  /// What centres that this evidence made score its own episodes, [episodes, k]; nothing where only
  /// the steps can tell.
  virtual std::optional<Matrix> scores(const Centres& centres) const = 0;

  /// The policies of a partition of more data of the same kind.
  virtual std::shared_ptr<const Centres> centres_on(const Trajectories& data,
                                                    std::span<const std::int32_t> labels,
                                                    std::int64_t k, const HeldOutScore& judged,
                                                    const RunContext& run) const = 0;

  PairedGain gain(const HeldOutScore& from, const HeldOutScore& to) const {
    return paired_gain(costs(from, to), costs(to, to), steps());
  }
};

/// The upper one of an even number; there must be some.
double median(std::vector<double> values);

/// The labels with the second cluster of the pair as part of the first.
std::vector<std::int32_t> joined_labels(std::span<const std::int32_t> labels, ClusterPair pair);
/// 0 where the label is one of the two, else -1.
std::vector<std::int32_t> only_of(std::span<const std::int32_t> labels, ClusterPair pair);

/// Joins the first of the pairs, which come closest first, that links allow to be joined, or the
/// first where they allow none; labels stay consecutive.
void join_closest(std::span<const ClusterPair> pairs, const Links& links,
                  std::vector<std::int32_t>& labels);
/// How many pairs of k clusters that takes at most.
std::size_t pairs_to_try(const Links& links, std::int64_t k);

/// Labels of as many episodes for each of the clusters, as far as that can be, in random order.
std::vector<std::int32_t> random_partition(std::int64_t episodes, std::int64_t clusters,
                                           Random random);

/// At most `most` of the episodes, in order: all, or those of `always` and a sample that follows
/// from the ids.
std::vector<std::int64_t> sample_by_id(std::span<const std::string> ids, std::int64_t most,
                                       std::span<const std::int64_t> always);

/// Whole episodes with about so many steps together, of which there are some from each fold; all
/// where there are no more.
Trajectories some_episodes(const Trajectories& data, std::int64_t steps);

/// The fold of each episode, [draws][episodes]. Folds belong to episodes: they follow from the ids,
/// whatever the order or the clusters.
std::vector<std::vector<std::int32_t>> draw_folds(std::span<const std::string> ids,
                                                  std::int64_t folds, std::int64_t draws);

/// How many folds, drawn how often. Every episode is held out alone where there are few, so that a
/// policy with two of them is never without both.
struct FoldPlan {
  std::int64_t folds = 5;
  std::int64_t draws = 3;

  static FoldPlan for_episodes(std::int64_t episodes);
};

}  // namespace kindred::policy_search
