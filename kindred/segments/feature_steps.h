// Evidence on steps for policies that are linear in features of observations.
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
  using Sums = std::vector<double>;  // [folds, k, layout.size()]

  Sums sums(std::span<const std::int32_t> labels, std::int64_t k) const;
  /// The policies of all folds but one, side by side: [features, k × targets].
  std::vector<double> solve(const Sums& sums, std::int64_t k, std::int64_t without) const;
  /// Squared errors of every step, [steps, k × targets], under the policies of its own fold.
  std::vector<float> errors(const Trajectories& data, std::int64_t k,
                            std::span<const std::vector<double>> policies,
                            std::span<const std::int32_t> folds) const;
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
  std::vector<float> kept_;            // [steps, features]; none where there are too many
};

}  // namespace kindred
