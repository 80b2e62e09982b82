// The numbers that decide an answer of policy search, each with its reason. They were chosen on one
// seed of the development mixtures and on one half of scripts/trust. On its other half 11 of 200
// files of one policy are split, none surely; 49 of 200 pairs of policies are joined, 3 surely.
#pragma once

namespace kindred::policy_search {

struct Rules {
  /// Whether groups differ: by how much farther actions are, or by less that was foretold; never
  /// against what was.
  bool conflict(double z, double foretold) const {
    return foretold > 0.0 && (z >= different || (z >= differ_little && foretold >= as_foretold));
  }

  // When two groups differ.
  /// Standard errors over episodes by which actions in like states must differ. Bias of a nearest
  /// state that always lies on one side reaches 3.5.
  double different = 4.0;
  /// Or so many, where they differ the way that policies fitted to the other half of the steps
  /// foretell by `as_foretold` standard errors: policies that differ little, but everywhere.
  double differ_little = 2.5;
  double as_foretold = 6.0;
  /// A state of the other group is alike when it is at most so many times as far as the nearest of
  /// another episode of the own group.
  double like = 2.0;
  /// The own state it is compared with is at most so many times as far, or as near.
  double same_distance = 1.5;
  /// They act alike where actions differ less than this share of what their policies foretell, by
  /// two standard errors; else they met too seldom to tell.
  double alike = 0.5;

  // When a partition is one of policies.
  /// Of what each cluster before gained in V on average, for one more to count: a policy in two
  /// parts gains some 5 %, since features approximate it.
  double usual_gain = 0.1;
  /// NMI of the labels that each half of the steps leads to: a policy persists. Asked where
  /// features are not learned, and misfit may tell groups apart.
  double persists = 0.25;

  /// Noise is looked at only where like states leave as much of what one policy misses: else it
  /// misses what policies do. Right answers had at least 0.86, wrong ones at most 0.62.
  double is_noise = 0.75;

  // When an answer is sure.
  double surely_different = 5.0;  ///< Every pair, by both tests.
  double surely_persists = 0.9;   ///< NMI, likewise.
  /// One policy: at most so large a share of the squared difference of actions in like states may
  /// go with the episode.
  double episode_share = 0.15;
};

}  // namespace kindred::policy_search
