// Exact policies as centres: enough to tell which of them explains a trajectory best.
#pragma once

#include <memory>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/policies/exact_policies.h"

namespace kindred {

/// Scores are log-likelihoods of the standardised actions, where no piece of an episode counts more
/// than kMostUnusual times the usual error. They cannot act: policies that can are cloned from the
/// clusters.
class ExactCentres final : public Centres {
 public:
  /// weights: [features, count × targets]; noise: [targets], the usual squared error of a step;
  /// own_noise: [count, targets], that of each centre, empty where it is not known; ridge: with
  /// which policies were fitted.
  ExactCentres(FeatureMap map, ActionTargets targets, std::vector<double> weights,
               std::vector<double> noise, std::vector<double> own_noise, double ridge);

  std::int64_t count() const override { return count_; }
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  bool sums_over_steps() const override { return true; }
  /// By what a policy of the episode's own would explain better. Empty where the centres' own noise
  /// is not known.
  std::vector<double> surprises(const Trajectories& data, std::span<const std::int32_t> labels,
                                const RunContext& run) const override;
  void save(ArrayFileWriter& file) const override;
  static std::shared_ptr<const Centres> load(const ArrayFileReader& file);

 private:
  FeatureMap map_;
  ActionTargets targets_;
  std::int64_t count_;
  std::vector<double> weights_;    // [features, count × targets]
  std::vector<double> noise_;      // [targets]: variance
  std::vector<double> own_noise_;  // [count, targets]
  double ridge_;
};

}  // namespace kindred
