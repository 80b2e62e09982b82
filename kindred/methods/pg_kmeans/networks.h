// What learners of networks share, whatever they train with: the policies of all slots, and the
// common one they are scored against.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "kindred/clustering/network_view.h"
#include "kindred/methods/pg_kmeans/learner.h"
#include "kindred/nn/policy_stack.h"
#include "kindred/policies/scoring.h"

namespace kindred::pg_kmeans {

class Networks : public PolicyLearner {
 public:
  void reinitialise(std::int64_t slot, std::int64_t round) override;
  std::shared_ptr<const Centres> centres(std::span<const std::int64_t> slots) const override;
  void save(ArrayFileWriter& file) const override;
  void load(const ArrayFileReader& file) override;

 protected:
  /// With random policies.
  Networks(const Trajectories& data, const Options& options, const RunContext& run);

  /// The common policy, trained once on all trajectories as any other is in one round; to be called
  /// before others are trained.
  void need_common_policy();
  /// Trains the policies of `stack`, which belong to `slots`, on the trajectories carrying their
  /// labels.
  virtual void train(PolicyStack& stack, std::span<const std::int64_t> slots,
                     const LabelsOfRestart& labels, std::int64_t round) const = 0;
  /// Notes what the common policy makes of every step.
  virtual void score_common_policy() = 0;

  Scoring scoring() const {
    return {.common_share = options_.common_share, .floor = options_.log_prob_floor};
  }

  const Trajectories& data_;
  Options options_;
  RunContext run_;
  NetworkView view_;
  PolicyStack policies_;               // [restarts × k]
  std::optional<PolicyStack> common_;  // one, where it has a share

 private:
  static constexpr std::array<std::int64_t, 1> kFirst = {0};
};

}  // namespace kindred::pg_kmeans
