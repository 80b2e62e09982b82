// Fitted policies as centres: networks, or tables of action frequencies.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/clustering/network_view.h"
#include "kindred/nn/cpu_policy.h"
#include "kindred/nn/policy_stack.h"
#include "kindred/policies/scoring.h"

namespace kindred {

/// Centres that can act.
class PolicyCentres : public Centres {
 public:
  /// What one centre would do: observations [n, obs_dim] → probabilities [n, actions]; continuous:
  /// means and standard deviations [n, 2, actions]. Safe to call from several threads.
  virtual void distribution(std::int64_t centre, std::span<const float> observations,
                            std::span<float> out) const = 0;
  virtual std::int64_t obs_dim() const = 0;
  virtual bool discrete() const = 0;
  /// How many there are, or numbers per action when continuous.
  virtual std::int64_t actions() const = 0;
};

class NetworkCentres final : public PolicyCentres {
 public:
  /// `common`: one policy of the same architecture, where `scoring` gives it a share.
  NetworkCentres(NetworkView view, PolicyStack policies, Scoring scoring = {},
                 std::optional<PolicyStack> common = {});

  std::int64_t count() const override { return policies_.size(); }
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  bool sums_over_steps() const override { return scoring_.over == OverSteps::kSumOfLogs; }
  void save(ArrayFileWriter& file) const override;
  static std::shared_ptr<const Centres> load(const ArrayFileReader& file);

  void distribution(std::int64_t centre, std::span<const float> observations,
                    std::span<float> out) const override;
  std::int64_t obs_dim() const override { return view_.inputs.obs_dim; }
  bool discrete() const override { return policies_.architecture().discrete; }
  std::int64_t actions() const override;

  const NetworkView& view() const { return view_; }
  const PolicyStack& policies() const { return policies_; }

 private:
  NetworkView view_;
  PolicyStack policies_;
  Scoring scoring_;
  std::optional<PolicyStack> common_;
  std::vector<std::unique_ptr<const CpuPolicy>> kernels_;  // [count]
};

class TabularCentres final : public PolicyCentres {
 public:
  /// table: [distinct, obs_dim]; log_probs: [distinct × actions, count].
  TabularCentres(Column<float> table, std::int64_t obs_dim, std::int64_t actions,
                 std::vector<double> log_probs, std::int64_t count);

  std::int64_t count() const override { return count_; }
  /// An observation that was not in the fitted data is scored as a uniformly random action.
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  bool sums_over_steps() const override { return true; }
  /// By nats beside those the table expects; an observation that was not in the fitted data counts
  /// neither for nor against.
  std::vector<double> surprises(const Trajectories& data, std::span<const std::int32_t> labels,
                                const RunContext& run) const override;
  void save(ArrayFileWriter& file) const override;
  static std::shared_ptr<const Centres> load(const ArrayFileReader& file);

  /// Uniform where the observation was not in the fitted data. A floor under the log-probabilities
  /// is part of the stored table: impossible actions keep that little chance.
  void distribution(std::int64_t centre, std::span<const float> observations,
                    std::span<float> out) const override;
  std::int64_t obs_dim() const override { return obs_dim_; }
  bool discrete() const override { return true; }
  std::int64_t actions() const override { return actions_; }

  /// The observations of the fitted data, [distinct, obs_dim].
  const Column<float>& table() const { return table_; }

 private:
  /// [actions, count] of an observation [obs_dim]; nullptr when it was not in the fitted data.
  const double* log_probs_at(const float* observation) const;
  std::string_view key(const float* observation) const;

  Column<float> table_;
  std::int64_t obs_dim_;
  std::int64_t actions_;
  std::vector<double> log_probs_;
  std::int64_t count_;
  std::unordered_map<std::string_view, std::int64_t> row_of_;  // keys view table_
};

/// Saves and restores a stack's parameters as "<prefix>/0", "<prefix>/1", …
void save_stack(const PolicyStack& stack, const std::string& prefix, ArrayFileWriter& file);
PolicyStack load_stack(const std::string& prefix, const ArrayFileReader& file);
/// The same into a stack that has its shape already; throws DataFormatError when it has another.
void restore_stack(const std::string& prefix, const ArrayFileReader& file, PolicyStack& stack);

/// Policies of either kind, as they saved themselves.
std::shared_ptr<const Centres> load_policy_centres(const ArrayFileReader& file);

}  // namespace kindred
