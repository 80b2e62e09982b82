// Evidence on steps for policies that are tables of how often each action was taken in each
// observation, as in policies/table_evidence.h.
#pragma once

#include "kindred/segments/step_evidence.h"

namespace kindred {

class TableSteps final : public StepEvidence {
 public:
  /// `data` must be interned with discrete actions.
  explicit TableSteps(const Trajectories& data);

  JudgedSteps judge(std::span<const std::int32_t> labels, std::int64_t k) const override;
  std::optional<Matrix> judge_shared(const Matrix& chances, double prior) const override;
  /// A table answers each observation by itself, so one table for both is all it takes.
  std::vector<double> as_one(const Matrix& nats, std::span<const std::int32_t> labels,
                             std::int32_t first, std::int32_t second) const override;
  Matrix judge_others(const JudgedSteps& judged, std::span<const std::int32_t> labels,
                      const Trajectories& others) const override;

 private:
  using Counts = std::vector<double>;  // [observations × actions]

  std::vector<std::int32_t> codes_in(const Trajectories& data) const;
  /// Of the steps with one of two labels, or of all, outside a fold.
  Counts count(std::span<const std::int32_t> labels, std::int32_t first, std::int32_t second,
               std::int64_t without) const;
  Counts count_all(std::int64_t without) const;
  /// log π(a|s) from a policy's counts and, as so many steps more, those of all.
  std::vector<double> log_probs(const Counts& own, const Counts& all, double prior = 1.0) const;

  std::int64_t actions_ = 0;
  std::int64_t codes_ = 0;
  std::vector<std::int32_t> code_of_;  // [steps]
  std::vector<std::int32_t> fold_of_;  // [steps]
};

}  // namespace kindred
