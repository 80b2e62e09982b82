// V, the held-out score of a partition: how well the policies of its clusters predict episodes they
// have not seen. It has no units, cannot be bought by memorising, and has no noise given the folds.
//
// An episode that went where the others of its policy never were is predicted badly by every
// policy, and least badly by whichever happens to extrapolate best. Of a piece of an episode,
// errors beyond three times the usual therefore count as three times the usual.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/policies/exact_policies.h"

namespace kindred {

struct HeldOutScore {
  double v = 0.0;              ///< -½ Σ_d log(noise of target d)
  std::vector<double> noise;   ///< [targets]: the usual squared error of a step.
  std::vector<double> errors;  ///< [pieces, targets]: squared, summed over steps.
};

/// How much better one partition predicts than another, on the same folds, per step.
struct PairedGain {
  double mean = 0.0;
  double error = 0.0;            ///< Standard error over episodes.
  double episodes_better = 0.0;  ///< Share of the episodes.
};

/// Folds belong to episodes: they follow from the ids, whatever the order or the clusters.
class HeldOut {
 public:
  /// Every episode is held out alone where there are few, so that a policy with two of them is
  /// never without both; otherwise five folds, drawn three times. `statistics` must outlive this.
  HeldOut(const EpisodeStatistics& statistics, std::span<const std::string> ids, double ridge);
  HeldOut(const EpisodeStatistics& statistics, std::span<const std::string> ids, double ridge,
          std::int64_t folds, std::int64_t draws);

  /// The fold of each episode in one of the draws.
  std::span<const std::int32_t> folds(std::int64_t draw) const {
    return fold_of_[static_cast<std::size_t>(draw)];
  }

  HeldOutScore score(std::span<const std::int32_t> labels, std::int64_t k) const;
  /// Nats that each piece costs under every cluster's policy, fitted without the piece's fold:
  /// [pieces, k].
  Matrix costs_everywhere(std::span<const std::int32_t> labels, std::int64_t k,
                          std::span<const double> noise) const;
  /// How many nats each episode costs: [episodes].
  std::vector<double> costs(const HeldOutScore& score, std::span<const double> noise) const;
  PairedGain gain(const HeldOutScore& from, const HeldOutScore& to) const;

 private:
  std::vector<double> predict(std::span<const std::int32_t> labels, std::int64_t k) const;
  void set_noise(HeldOutScore& score) const;

  const EpisodeStatistics& statistics_;
  double ridge_;
  std::int64_t folds_;
  std::vector<std::vector<std::int32_t>> fold_of_;  // [draws][episodes]
};

}  // namespace kindred
