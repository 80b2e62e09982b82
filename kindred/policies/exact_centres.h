// Exact policies as centres: enough to tell which of them explains a trajectory best.
#pragma once

#include <memory>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/policies/exact_policies.h"

namespace kindred {

/// Scores are log-likelihoods of the standardised actions. They cannot act: policies that can are
/// cloned from the clusters.
class ExactCentres final : public Centres {
 public:
  /// The best policies of a partition's clusters on data that `statistics` were made of.
  ExactCentres(FeatureMap map, ActionTargets targets, const EpisodeStatistics& statistics,
               std::span<const std::int32_t> labels, std::int64_t k, double ridge);

  std::int64_t count() const override { return count_; }
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  /// The same from statistics that exist already.
  Matrix score(const EpisodeStatistics& statistics) const;
  bool sums_over_steps() const override { return true; }
  void save(ArrayFileWriter& file) const override;
  static std::shared_ptr<const Centres> load(const ArrayFileReader& file);

 private:
  ExactCentres(FeatureMap map, ActionTargets targets);

  FeatureMap map_;
  ActionTargets targets_;
  std::int64_t count_ = 0;
  std::vector<double> weights_;  // [features, count × targets]
  std::vector<double> noise_;    // [targets]: variance
};

}  // namespace kindred
