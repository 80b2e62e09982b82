#include "kindred/methods/policy_search/evidence/feature_evidence.h"

#include "kindred/policies/exact_centres.h"

namespace kindred::policy_search {

FeatureEvidence::FeatureEvidence(const Trajectories& data, const FeatureMap& map,
                                 std::shared_ptr<const ActionTargets> targets, double ridge,
                                 const Workers& workers, const std::string& device,
                                 Communicator& ranks, double pooled_steps)
    : map_(map),
      targets_(std::move(targets)),
      ridge_(ridge),
      statistics_(std::make_unique<KeptSums>(data, map_, *targets_, workers, device, ranks)) {
  if (pooled_steps > 0.0) statistics_->pool(pooled_steps);
  held_out_ = std::make_unique<HeldOut>(*statistics_, data.ids, ridge);
}

FeatureEvidence::FeatureEvidence(const FeatureEvidence& richer, const FeatureMap& map,
                                 std::span<const std::string> ids)
    : map_(map),
      targets_(richer.targets_),
      ridge_(richer.ridge_),
      statistics_(dynamic_cast<const KeptSums&>(*richer.statistics_).of_first(map.count())) {
  if (richer.statistics_->pooled_steps() > 0.0)
    statistics_->pool(richer.statistics_->pooled_steps());
  held_out_ = std::make_unique<HeldOut>(*statistics_, ids, ridge_);
}

FeatureEvidence::FeatureEvidence(const FeatureEvidence& whole,
                                 std::unique_ptr<EpisodeStatistics> statistics)
    : map_(whole.map_),
      targets_(whole.targets_),
      ridge_(whole.ridge_),
      statistics_(std::move(statistics)) {}

std::unique_ptr<const Evidence> FeatureEvidence::subset(
    std::span<const std::int64_t> episodes) const {
  return std::unique_ptr<const Evidence>(new FeatureEvidence(*this, statistics_->subset(episodes)));
}

std::shared_ptr<const Centres> FeatureEvidence::centres(std::span<const std::int32_t> labels,
                                                        std::int64_t k,
                                                        const HeldOutScore& judged) const {
  return std::make_shared<ExactCentres>(map_, *targets_,
                                        solve_policies(*statistics_, labels, k, ridge_).weights,
                                        judged.noise, judged.own_noise, ridge_);
}

std::optional<Matrix> FeatureEvidence::scores(const Centres& centres) const {
  return dynamic_cast<const ExactCentres&>(centres).score(*statistics_);
}

std::shared_ptr<const Centres> FeatureEvidence::centres_on(const Trajectories& data,
                                                           std::span<const std::int32_t> labels,
                                                           std::int64_t k,
                                                           const HeldOutScore& judged,
                                                           const RunContext& run) const {
  auto sums = cluster_sums(data, map_, *targets_, labels, k, run, run.device, ranks_of(run));
  const auto& pooled = statistics_->pooled();
  if (!pooled.empty())
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += pooled[i % pooled.size()];
  return std::make_shared<ExactCentres>(
      map_, *targets_, solve_policies(statistics_->layout(), sums, k, ridge_).weights, judged.noise,
      judged.own_noise, ridge_);
}

}  // namespace kindred::policy_search
