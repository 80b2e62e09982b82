// Evidence on steps for policies that are linear in features of observations, in each of a few
// regions of states for itself: what a policy does when it starts or has fallen is not what it does
// when it runs, and is not another policy's work either.
#pragma once

#include "kindred/policies/episode_statistics.h"
#include "kindred/segments/step_evidence.h"

namespace kindred {

class FeatureSteps final : public StepEvidence {
 public:
  FeatureSteps(const Trajectories& data, const Workers& workers);

  JudgedSteps judge(std::span<const std::int32_t> labels, std::int64_t k) const override;
  std::vector<double> as_one(const Matrix& nats, std::span<const std::int32_t> labels,
                             std::int32_t first, std::int32_t second) const override;
  Matrix judge_others(const JudgedSteps& judged, std::span<const std::int32_t> labels,
                      const Trajectories& others) const override;

 private:
  using Sums = std::vector<double>;  // [folds, regions, k, layout.size()]
  using Policies =
      std::vector<std::vector<double>>;  // [regions], each [features, k × targets, padded]

  void find_regions();
  std::vector<std::int32_t> regions_in(const Trajectories& data) const;

  Sums sums(std::span<const std::int32_t> labels, std::int64_t k) const;
  /// The policies of all folds but one, side by side.
  Policies solve(const Sums& sums, std::int64_t k, std::int64_t without) const;
  /// Squared errors of every step, [steps, k × targets], under the policies of its own fold.
  std::vector<float> errors(const Trajectories& data, std::int64_t k,
                            std::span<const Policies> policies, std::span<const std::int32_t> folds,
                            std::span<const std::int32_t> regions) const;
  /// Log-likelihoods from squared errors where the usual ones are known.
  void weigh(std::span<const float> missed, std::span<const double> noise, Matrix& nats) const;
  /// Weights [features] of the log-odds of `first` over `second`, fitted without half of the folds.
  std::vector<double> gate(std::span<const std::int32_t> labels, std::int32_t first,
                           std::int32_t second, std::int32_t without) const;

  const Trajectories& data_;
  Workers workers_;
  FeatureMap map_;
  ActionTargets targets_;
  StatisticsLayout layout_;
  std::vector<std::int32_t> fold_of_;  // [steps]
  std::int64_t regions_ = 1;
  std::vector<double> centres_;          // [regions, inputs]
  std::vector<std::int32_t> region_of_;  // [steps]
  StepValues<float> kept_;               // [steps, features]; none where there are too many
};

}  // namespace kindred
