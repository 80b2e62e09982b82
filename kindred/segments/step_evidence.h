// How well the policies of stretches of steps predict steps of episodes they have not seen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/workers.h"

namespace kindred {

/// Policies of some stretches, judged on every step.
struct JudgedSteps {
  /// [steps, k]: log-likelihoods. No step speaks against a policy by more than a few nats: an odd
  /// one decides nothing.
  Matrix nats;
  double usual = 0.0;  ///< What each of them lacks, to be compared with those of other labels.
  std::vector<double> noise = {};  ///< Usual squared errors of each target; empty for tables.
};

/// Labels are those of steps, from 0 to k - 1; steps with labels below 0 belong to no policy.
class StepEvidence {
 public:
  virtual ~StepEvidence() = default;

  /// Each label's policy is fitted on the steps that are not in a step's fold.
  virtual JudgedSteps judge(std::span<const std::int32_t> labels, std::int64_t k) const = 0;
  /// Log-likelihoods of each step, [steps, k], where each policy acts with a chance, [steps, k],
  /// and does what all do until so many steps say otherwise. Nothing where policies are not tables.
  virtual std::optional<Matrix> judge_shared(const Matrix& /*chances*/, double /*prior*/) const {
    return std::nullopt;
  }
  /// Log-likelihoods of each step, [steps], were two of the policies one: one that does as the
  /// first where by the state the first is to be expected, and as the second elsewhere.
  virtual std::vector<double> as_one(const Matrix& nats, std::span<const std::int32_t> labels,
                                     std::int32_t first, std::int32_t second) const = 0;
  /// Log-likelihoods of more data under the policies of the labels, which were judged so: [steps of
  /// the others, k].
  virtual Matrix judge_others(const JudgedSteps& judged, std::span<const std::int32_t> labels,
                              const Trajectories& others) const = 0;
};

/// The fold of each step. Folds are of episodes; where there are few, of blocks of steps.
std::vector<std::int32_t> step_folds(const Trajectories& data, std::int64_t folds);

/// Raises log-likelihoods that are far below the best in their row.
void limit_steps(Matrix& nats);

/// Tables where observations repeat and actions are discrete, else policies that are linear in
/// features. It refers to the data. Throws InvalidArgument when observations have too many numbers.
std::unique_ptr<const StepEvidence> step_evidence(const Trajectories& data, const Workers& workers);

}  // namespace kindred
