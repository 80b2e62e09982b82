// Statistics of episodes that are shorter than an observation is wide: sums of theirs would be
// larger than the data, so the rows are kept, and summed whenever asked.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kindred/policies/episode_statistics.h"
#include "kindred/policies/plane_view.h"

namespace kindred::policy_search {

class SparseStatistics final : public EpisodeStatistics {
 public:
  SparseStatistics(const Trajectories& data, const PlaneView& view, const ActionTargets& targets,
                   const Workers& workers);

  std::unique_ptr<EpisodeStatistics> subset(std::span<const std::int64_t> episodes) const override;
  std::vector<double> cluster_sums(std::span<const std::int32_t> labels,
                                   std::int64_t k) const override;
  std::vector<double> piece_sums(std::int64_t piece) const override;
  Matrix episode_costs(std::span<const double> weights, std::int64_t k,
                       std::span<const double> noise) const override;
  Matrix piece_errors(std::span<const std::int64_t> pieces,
                      std::span<const double> policy) const override;

  /// Of all steps of the data these statistics were made from.
  const SparseRows& rows() const { return *rows_; }

 private:
  SparseStatistics(const StatisticsLayout& layout, const Workers& workers)
      : EpisodeStatistics(layout, workers) {}
  void add_episode(std::int64_t begin, std::int64_t end);
  void add_sums(std::int64_t begin, std::int64_t end, double* sums) const;
  void add_errors(std::int64_t piece, std::span<const double> weights, std::span<double> out) const;

  std::shared_ptr<const SparseRows> rows_;              // [steps]
  std::shared_ptr<const std::vector<double>> actions_;  // [steps, targets]
  std::vector<std::int64_t> begin_, end_;               // [pieces]: steps
};

}  // namespace kindred::policy_search
