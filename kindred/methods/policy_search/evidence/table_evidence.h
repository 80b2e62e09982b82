// Evidence for policies that are tables: how often each action was taken in each observation, where
// observations repeat and actions are discrete.
//
// An observation that a cluster has seen n times is answered with its own frequencies, and with
// those of the whole dataset as if they had been seen once more:
//   π_j(a|s) = (n_j(s, a) + π(a|s)) / (n_j(s) + 1).
// That is the maximum of J = Σ_i log π_{label of i}(episode i) + Σ_j Σ_s Σ_a π(a|s) log π_j(a|s),
// so J rises in every round that changes a label.
#pragma once

#include "kindred/core/workers.h"
#include "kindred/methods/policy_search/evidence/evidence.h"

namespace kindred::policy_search {

/// V is the mean log-probability of a step in held-out episodes, less what labels cost; errors are
/// nats, [episodes].
class TableEvidence final : public Evidence {
 public:
  /// `data` must be interned with discrete actions.
  TableEvidence(const Trajectories& data, const Workers& workers);

  std::int64_t episodes() const override { return std::ssize(offsets_) - 1; }
  double steps() const override { return static_cast<double>(codes_.size()); }
  ExactFit fit(std::vector<std::int32_t> labels, const Links& links) const override;
  std::vector<ClusterPair> closest_pairs(std::span<const std::int32_t> labels, std::int64_t k,
                                         std::size_t most) const override;
  HeldOutScore score(std::span<const std::int32_t> labels, std::int64_t k) const override;
  double quick_score(std::span<const std::int32_t> labels, std::int64_t k) const override;
  HeldOutScore score_joined(const HeldOutScore& score, std::span<const std::int32_t> labels,
                            ClusterPair pair) const override;
  std::vector<double> costs(const HeldOutScore& score, const HeldOutScore&) const override;
  std::int64_t first_piece(std::int64_t episode) const override { return episode; }
  Matrix costs_everywhere(std::span<const std::int32_t> labels, std::int64_t k,
                          const HeldOutScore&) const override;
  HeldOutFit held_out_fit(std::span<const std::int32_t> labels, std::int64_t k,
                          const HeldOutScore&) const override;
  std::unique_ptr<const Evidence> subset(std::span<const std::int64_t> episodes) const override;
  std::optional<Matrix> scores(const Centres&) const override { return std::nullopt; }
  std::shared_ptr<const Centres> centres(std::span<const std::int32_t> labels, std::int64_t k,
                                         const HeldOutScore&) const override;
  std::shared_ptr<const Centres> centres_on(const Trajectories& data,
                                            std::span<const std::int32_t> labels, std::int64_t k,
                                            const HeldOutScore& judged,
                                            const RunContext& run) const override;

 private:
  explicit TableEvidence(const Workers& workers) : workers_(workers) {}

  /// Nats that each episode costs when predicted without its fold, means over the draws:
  /// [episodes]. Episodes with labels below 0 are left as they are in `nats`.
  void predict(std::span<const std::int32_t> labels, std::int64_t k, std::size_t draws,
               std::vector<double>& nats) const;
  double v(const HeldOutScore& score) const;
  /// The counts of each cluster and of everything, without one of the folds.
  struct Counts {
    std::vector<double> clusters;  ///< [k, codes]
    std::vector<double> all;       ///< [codes]
  };
  Counts without_fold(const Counts& whole, std::span<const std::int32_t> labels,
                      std::span<const std::int32_t> folds, std::int64_t fold) const;
  /// The policies of clusters with these counts, [k, codes].
  std::shared_ptr<const Centres> centres_of(std::span<const double> counts,
                                            std::span<const double> prior, std::int64_t k) const;
  /// How often each code (observation × actions + action) occurs in each cluster, [k, codes];
  /// labels below 0 belong to none.
  std::vector<double> count(std::span<const std::int32_t> labels, std::int64_t k) const;
  /// π(a|s) of the whole dataset, from its counts: [codes].
  std::vector<double> frequencies(std::span<const double> counts) const;
  /// log π_j(a|s), from a cluster's counts: [codes].
  std::vector<double> log_probs(std::span<const double> counts,
                                std::span<const double> prior) const;
  /// What a cluster contributes to J.
  double objective(std::span<const double> counts, std::span<const double> prior) const;
  double log_prob(std::int64_t episode, std::span<const double> log_probs) const;

  Workers workers_;
  std::int64_t actions_ = 0;
  std::int64_t obs_dim_ = 0;
  Column<float> table_;                // [distinct, obs_dim]
  std::vector<std::int64_t> offsets_;  // [episodes + 1]
  std::vector<std::int32_t> codes_;    // [steps]
  std::vector<double> prior_;          // [codes]: π(a|s)
  std::int64_t folds_ = 0;
  std::vector<std::vector<std::int32_t>> fold_of_;  // [draws][episodes]
};

}  // namespace kindred::policy_search
