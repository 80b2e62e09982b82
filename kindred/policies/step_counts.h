// Policies on data whose observations repeat and whose actions are discrete. A step is then one of
// distinct × actions pairs ("codes"); a memoryless policy is evaluated once per code, training
// needs only how often each code occurs in each cluster, and both are exact.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/workers.h"
#include "kindred/policies/over_steps.h"

namespace kindred {

/// The labels one restart currently gives; `cluster` of its slots is slot % k.
using LabelsOfRestart = std::function<std::span<const std::int32_t>(std::int64_t restart)>;

class StepCodes {
 public:
  /// `data` must be interned with discrete actions, and outlive this.
  StepCodes(const Trajectories& data, const Workers& workers);

  std::int64_t distinct() const { return distinct_; }
  std::int64_t actions() const { return actions_; }
  /// distinct * actions; code = observation * actions + action.
  std::int64_t codes() const { return distinct_ * actions_; }

  /// How often each code occurs in the trajectories of each slot's cluster: [slots, codes].
  std::vector<double> count(std::span<const std::int64_t> slots, std::int64_t k,
                            const LabelsOfRestart& labels) const;

  /// Sums `log_probs` [codes, columns] over the steps of each trajectory, or does with them what
  /// `over` says: [episodes, columns].
  Matrix sum_over_steps(std::span<const double> log_probs, std::int64_t columns,
                        OverSteps over = OverSteps::kSumOfLogs) const;

 private:
  const Trajectories& data_;
  Workers workers_;
  std::int64_t distinct_;
  std::int64_t actions_;
  std::vector<std::int32_t> code_of_step_;
};

}  // namespace kindred
