// Who acted when: policies that take turns within episodes.
//
// Windows of episodes give first guesses at the policies (components.h). A hidden Markov model
// whose states they are then says who acts at each step, and the policies are fitted again to what
// each did, until little changes; clusters that are one policy in different states are joined
// (one_policy.h). Of several guesses the one that predicts best counts, what naming the actors
// costs included, and switches are believed only where they predict better than that nobody
// switches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/options.h"
#include "kindred/core/progress.h"
#include "kindred/segments/unsure.h"

namespace kindred {

struct SegmentOptions {
  std::int64_t k = 0;       ///< Policies; 0: to be found.
  std::int64_t k_max = 6;   ///< The most to look for.
  std::int64_t window = 0;  ///< Steps of a first guess's window; 0: by the data.
  std::int64_t seed = 0;

  OptionTable describe();
};

/// A stretch of an episode in which one policy acts.
struct Segment {
  std::int64_t episode = 0;
  std::int64_t begin = 0;  ///< Its first step, from 0 in the episode.
  std::int64_t end = 0;    ///< The step after its last one.
  std::int32_t policy = 0;
  double chance = 1.0;  ///< The mean chance over its steps that it was this policy.
  /// The switch it begins with lies between these steps with a chance of 90 %; both are 0 at the
  /// begin of an episode.
  std::int64_t earliest = 0;
  std::int64_t latest = 0;
};

struct Segmentation {
  std::int64_t policies = 0;
  std::vector<std::int32_t> actors;   ///< [steps]
  std::vector<double> chances;        ///< [steps]: that the actor is right.
  std::vector<Segment> segments;      ///< In order.
  std::vector<UnsureStretch> unsure;  ///< In order.
  double rate = 0.0;                  ///< Of switches per step; 0 where nobody switches.
  double v = 0.0;             ///< Held-out score on the searched episodes, in nats per step.
  double v_of_nobody = 0.0;   ///< Of the best answer in which nobody switches.
  double v_of_one = 0.0;      ///< Of one policy.
  Matrix nats;                ///< [steps, policies]: held-out log-likelihoods.
  std::int64_t searched = 0;  ///< Episodes the policies were looked for in.

  std::int64_t switches() const;
};

/// Who acts, given log-likelihoods of each step under each policy, [steps, k], and the rate of
/// switches. Scores are not set.
Segmentation segment_known(Matrix nats, std::span<const std::int64_t> offsets, double rate,
                           const Workers& workers);

/// `known` are labels of episodes from which policies are known, or empty: they are looked for.
/// Throws Interrupted when asked to stop, InvalidArgument where policies cannot be fitted.
Segmentation segment(const Trajectories& data, const SegmentOptions& options, const RunContext& run,
                     std::span<const std::int32_t> known = {});

/// The stretches of a labelling of steps.
std::vector<Segment> segments_of(std::span<const std::int32_t> actors,
                                 std::span<const std::int64_t> offsets);

}  // namespace kindred
