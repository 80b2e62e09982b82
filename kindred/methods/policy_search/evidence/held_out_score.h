// V, the held-out score of a partition: how well the policies of its clusters predict episodes they
// have not seen. It has no units, cannot be bought by memorising, and has no noise given the folds.
//
// An episode that went where the others of its policy never were is predicted badly by every
// policy, and least badly by whichever happens to extrapolate best. Of a piece of an episode,
// errors beyond three times the usual therefore count as three times the usual.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "kindred/methods/policy_search/evidence/exact_fits.h"

namespace kindred::policy_search {

/// V = -½ Σ_d log(noise of target d), less what labels cost per step; errors are [pieces, targets],
/// squared and summed over steps.
class HeldOut {
 public:
  /// `statistics` must outlive this.
  HeldOut(const EpisodeStatistics& statistics, std::span<const std::string> ids, double ridge)
      : HeldOut(statistics, ids, ridge, FoldPlan::for_episodes(std::ssize(ids))) {}
  HeldOut(const EpisodeStatistics& statistics, std::span<const std::string> ids, double ridge,
          const FoldPlan& plan);

  /// The fold of each episode in one of the draws.
  std::span<const std::int32_t> folds(std::int64_t draw) const {
    return fold_of_[static_cast<std::size_t>(draw)];
  }

  HeldOutScore score(std::span<const std::int32_t> labels, std::int64_t k) const;
  /// V of some of the episodes, those with a mark: [episodes].
  double v_of(const HeldOutScore& score, std::span<const std::uint8_t> marked) const;
  /// V by the first draw of the folds.
  double quick_score(std::span<const std::int32_t> labels, std::int64_t k) const;
  /// The score after two clusters are taken for one.
  HeldOutScore score_joined(const HeldOutScore& score, std::span<const std::int32_t> labels,
                            ClusterPair pair) const;
  /// Nats that each piece costs under every cluster's policy, fitted without the piece's fold:
  /// [pieces, k].
  Matrix costs_everywhere(std::span<const std::int32_t> labels, std::int64_t k,
                          std::span<const double> noise) const;
  HeldOutFit fit(std::span<const std::int32_t> labels, std::int64_t k,
                 const HeldOutScore& judged) const;
  /// How many nats each episode costs: [episodes].
  std::vector<double> costs(const HeldOutScore& score, std::span<const double> noise) const;

 private:
  using Members = std::vector<std::int64_t>;  // episodes of a cluster, in order
  using ByDraw = std::vector<std::vector<double>>;
  /// Errors of every piece, predicted without its episode's fold: [pieces, targets], means over the
  /// draws. Episodes with labels below 0 are left as they are in `errors`.
  void predict(std::span<const std::int32_t> labels, std::int64_t k, std::size_t draws,
               std::vector<double>& errors) const;
  /// Errors of a cluster's pieces by at least so many draws: [draws][pieces, targets].
  std::shared_ptr<const ByDraw> cluster_errors(const Members& members, std::size_t draws) const;
  /// By the draws [first_draw, draws).
  ByDraw predict_cluster(const Members& members, std::size_t first_draw, std::size_t draws) const;
  void add_pieces(std::int64_t episode, std::vector<std::int64_t>& pieces) const;
  /// The noise for which pieces of episodes that `counts`, none counting more than kMostUnusual,
  /// have the usual errors on average: [targets].
  std::vector<double> usual_noise(std::span<const double> errors,
                                  const std::function<bool(std::int64_t)>& counts) const;
  void set_noise(HeldOutScore& score) const;
  /// What others' episodes, those of other folds, add to the sums of every policy; empty without
  /// pooling.
  std::span<const double> pooled_without(std::size_t draw, std::int32_t fold) const;

  const EpisodeStatistics& statistics_;
  double ridge_;
  std::int64_t folds_;
  std::vector<std::vector<std::int32_t>> fold_of_;  // [draws][episodes]
  std::vector<std::vector<double>> pooled_;         // [draws][folds, size], where there is pooling

  /// A cluster is predicted the same whatever the others are, and a search asks for it often.
  struct Memory {
    std::mutex mutex{};
    std::map<Members, std::shared_ptr<const ByDraw>> errors{};
    std::size_t numbers = 0;
  };
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
};

}  // namespace kindred::policy_search
