// Evidence for policies that are linear in features of observations.
#pragma once

#include <memory>
#include <string>

#include "kindred/core/workers.h"
#include "kindred/methods/policy_search/evidence/held_out_score.h"

namespace kindred::policy_search {

class FeatureEvidence final : public Evidence {
 public:
  /// Reads the data once, of which every rank has all; they share the work.
  FeatureEvidence(const Trajectories& data, const FeatureMap& map,
                  std::shared_ptr<const ActionTargets> targets, double ridge,
                  const Workers& workers, const std::string& device = "cpu",
                  Communicator& ranks = *one_process(), double pooled_steps = 0.0);

  /// By the first features alone: `map` is the one of `richer` with fewer cosines.
  FeatureEvidence(const FeatureEvidence& richer, const FeatureMap& map,
                  std::span<const std::string> ids);

  std::int64_t episodes() const override { return statistics_->episodes(); }
  double steps() const override { return statistics_->total_steps(); }
  ExactFit fit(std::vector<std::int32_t> labels, const Links& links) const override {
    return fit_exact(*statistics_, std::move(labels), ridge_, links);
  }
  std::vector<ClusterPair> closest_pairs(std::span<const std::int32_t> labels, std::int64_t k,
                                         std::size_t most) const override {
    return policy_search::closest_pairs(
        *statistics_, labels, k, ridge_, most,
        statistics_->pooled().empty() ? Joins::kAll : Joins::kLikely);
  }
  HeldOutScore score(std::span<const std::int32_t> labels, std::int64_t k) const override {
    return held_out_->score(labels, k);
  }
  double quick_score(std::span<const std::int32_t> labels, std::int64_t k) const override {
    return held_out_->quick_score(labels, k);
  }
  HeldOutScore score_joined(const HeldOutScore& score, std::span<const std::int32_t> labels,
                            ClusterPair pair) const override {
    return held_out_->score_joined(score, labels, pair);
  }
  std::vector<double> costs(const HeldOutScore& score, const HeldOutScore& usual) const override {
    return held_out_->costs(score, usual.noise);
  }
  std::int64_t first_piece(std::int64_t episode) const override {
    return statistics_->first_piece(episode);
  }
  Matrix costs_everywhere(std::span<const std::int32_t> labels, std::int64_t k,
                          const HeldOutScore& usual) const override {
    return held_out_->costs_everywhere(labels, k, usual.noise);
  }
  HeldOutFit held_out_fit(std::span<const std::int32_t> labels, std::int64_t k,
                          const HeldOutScore& judged) const override {
    return held_out_->fit(labels, k, judged);
  }
  std::unique_ptr<const Evidence> subset(std::span<const std::int64_t> episodes) const override;
  std::shared_ptr<const Centres> centres(std::span<const std::int32_t> labels, std::int64_t k,
                                         const HeldOutScore& judged) const override;
  std::optional<Matrix> scores(const Centres& centres) const override;

  const EpisodeStatistics& statistics() const { return *statistics_; }
  const FeatureMap& map() const { return map_; }
  /// V of some of the episodes, those with a mark.
  double v_of(const HeldOutScore& score, std::span<const std::uint8_t> marked) const {
    return held_out_->v_of(score, marked);
  }
  double ridge() const { return ridge_; }

  std::shared_ptr<const Centres> centres_on(const Trajectories& data,
                                            std::span<const std::int32_t> labels, std::int64_t k,
                                            const HeldOutScore& judged,
                                            const RunContext& run) const override;

 private:
  FeatureEvidence(const FeatureEvidence& whole, std::unique_ptr<EpisodeStatistics> statistics);

  FeatureMap map_;
  std::shared_ptr<const ActionTargets> targets_;
  double ridge_;
  std::unique_ptr<EpisodeStatistics> statistics_;
  std::unique_ptr<const HeldOut> held_out_;  // none in a subset
};

}  // namespace kindred::policy_search
