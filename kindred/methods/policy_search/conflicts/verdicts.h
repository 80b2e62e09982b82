// From what single steps tell to verdicts: evidence of a pair is counted over episodes, in both
// directions, and that of a partition over all its pairs.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/methods/policy_search/conflicts/over_episodes.h"
#include "kindred/methods/policy_search/rules.h"
#include "kindred/policies/exact_centres.h"

namespace kindred::policy_search {

/// A partition and what each half of the blocks of steps says of it.
struct HalvedLabels {
  std::int64_t k = 0;
  /// Labels found in one half of the blocks, to be tested in the other: [2][episodes].
  std::array<std::vector<std::int32_t>, 2> labels;
  /// The policies of these groups in the half where the labels were found; none where policies are
  /// tables.
  std::array<std::shared_ptr<const ExactCentres>, 2> policies;
};

/// What conflicts say of a partition.
struct PartitionVerdict {
  std::vector<PairVerdict> pairs;
  /// Of every group and the one whose policy is nearest, all together, in standard errors over
  /// episodes: with few episodes no pair may be decided although the whole is.
  double z = 0.0, foretold = 0.0;

  /// Whether more steps would change nothing: all differ surely, or some surely are alike.
  bool is_decided(const Rules& rules) const;
};

/// What one step of a group tells of another: how much farther the action in a like state of that
/// group is than in a state of its own.
struct Telling {
  float farther = 0.0F;
  float foretold = 0.0F;    // of that, along the difference of the two policies
  float expected = 0.0F;    // what that would be if they differed as their policies do
  std::int64_t other = -1;  // the like state; -1: there is none
};

/// What the episodes of one group tell of another, or some of their steps do.
struct EpisodesTold {
  std::map<std::int32_t, EpisodeSum> farther, foretold, expected;

  void add(std::int32_t episode, const Telling& telling);
};

/// The same of all steps, and of those in the second halves of episodes.
struct Direction {
  EpisodesTold all, later;
  double met = 0.0, looked_at = 0.0;
  float most = -std::numeric_limits<float>::infinity();
  std::array<std::int64_t, 2> example{-1, -1};

  void add(std::int32_t episode, std::int64_t step, bool is_late, const Telling& telling);
};

/// How much nearer actions are to those of the same episode than to those of others.
class EpisodeTally {
 public:
  /// In a state like both: squared distances from the action of another episode and from that of
  /// its own other steps.
  void add(std::int32_t episode, double others, double own);
  /// There is no state like it.
  void add_none() { ++looked_at_; }
  /// Nothing where too few episodes met. One policy leaves so much of the variance unexplained.
  EpisodeEffect effect(double unexplained) const;

 private:
  std::map<std::int32_t, EpisodeSum> farther_;
  double met_ = 0.0, looked_at_ = 0.0, apart_ = 0.0;
};

/// `directions` are [k, k], of the first to the second.
PartitionVerdict judge_directions(std::span<const Direction> directions,
                                  const HalvedLabels& partition, const Rules& rules);

}  // namespace kindred::policy_search
