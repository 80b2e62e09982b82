// Fitted policies as centres: networks, or tables of action frequencies.
#pragma once

#include <memory>
#include <vector>

#include "kindred/methods/clustering.h"
#include "kindred/methods/policies/over_steps.h"
#include "kindred/methods/policies/policy_inputs.h"
#include "kindred/nn/policy_stack.h"

namespace kindred {

class NetworkCentres final : public Centres {
 public:
  NetworkCentres(PolicyInputs inputs, PolicyStack policies, double floor,
                 OverSteps over = OverSteps::kSumOfLogs);

  std::int64_t count() const override { return policies_.size(); }
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  bool sums_over_steps() const override { return over_ == OverSteps::kSumOfLogs; }
  void save(ArrayFileWriter& file) const override;
  static std::shared_ptr<const Centres> load(const ArrayFileReader& file);

 private:
  PolicyInputs inputs_;
  PolicyStack policies_;
  double floor_;
  OverSteps over_;
};

class TabularCentres final : public Centres {
 public:
  /// table: [distinct, obs_dim]; log_probs: [distinct × actions, count].
  TabularCentres(Column<float> table, std::int64_t obs_dim, std::int64_t actions,
                 std::vector<double> log_probs, std::int64_t count);

  std::int64_t count() const override { return count_; }
  /// An observation that was not in the fitted data is scored as a uniformly random action.
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  bool sums_over_steps() const override { return true; }
  void save(ArrayFileWriter& file) const override;
  static std::shared_ptr<const Centres> load(const ArrayFileReader& file);

 private:
  Column<float> table_;
  std::int64_t obs_dim_;
  std::int64_t actions_;
  std::vector<double> log_probs_;
  std::int64_t count_;
};

/// Saves and restores a stack's parameters as "<prefix>/0", "<prefix>/1", …
void save_stack(const PolicyStack& stack, const std::string& prefix, ArrayFileWriter& file);
PolicyStack load_stack(const std::string& prefix, const ArrayFileReader& file);

/// Throws DataFormatError unless `data` has the dimensions centres were fitted on; `actions`: how
/// many there are, or numbers per action.
void require_same_dimensions(const Trajectories& data, std::int64_t obs_dim, bool discrete,
                             std::int64_t actions);

/// Policies of either kind, as they saved themselves.
std::shared_ptr<const Centres> load_policy_centres(const ArrayFileReader& file);

}  // namespace kindred
