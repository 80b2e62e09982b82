// The sums over an episode's steps that exact policies need: made in one pass over the data, added
// over the episodes of a cluster or a fold. After that no step is looked at again.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kindred/core/workers.h"
#include "kindred/policies/feature_map.h"

namespace kindred {

/// Where the sums lie in a row of numbers. With features φ and targets a: the lower triangle of
/// Σφφᵀ row by row, Σφaᵀ [features, targets], Σa² [targets], and the number of steps.
struct StatisticsLayout {
  std::int64_t features = 0;
  std::int64_t targets = 0;

  std::int64_t cross() const { return features * (features + 1) / 2; }
  std::int64_t squares() const { return cross() + features * targets; }
  std::int64_t steps() const { return squares() + targets; }
  std::int64_t size() const { return steps() + 1; }
};

/// Steps [begin, end) of an episode in pieces of about 200 steps, so that a part that went where no
/// other episode did can be told from the rest.
std::vector<std::pair<std::int64_t, std::int64_t>> pieces_of(std::int64_t begin, std::int64_t end);

/// The sums of each cluster, [k, size], without keeping those of episodes. They do not depend on
/// the number of threads.
std::vector<double> cluster_sums(const Trajectories& data, const FeatureMap& map,
                                 const ActionTargets& targets, std::span<const std::int32_t> labels,
                                 std::int64_t k, const Workers& workers);

/// The sums of steps [begin, end): [size].
std::vector<double> step_sums(const Trajectories& data, std::int64_t begin, std::int64_t end,
                              const FeatureMap& map, const ActionTargets& targets);

class EpisodeStatistics {
 public:
  /// Reads the data once, in order. Throws Interrupted when asked to stop.
  EpisodeStatistics(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
                    const Workers& workers);

  /// Of some of the episodes.
  EpisodeStatistics subset(std::span<const std::int64_t> episodes) const;

  const StatisticsLayout& layout() const { return layout_; }
  std::int64_t episodes() const { return episodes_; }
  double total_steps() const { return total_steps_; }
  const Workers& workers() const { return workers_; }
  /// To be called now and then by what is computed from statistics, which may take long: throws
  /// Interrupted when those who made them are asked to stop.
  void throw_if_stopped() const { workers_.throw_if_stopped(); }
  /// The sums of one episode, [layout().size()].
  std::span<const double> of(std::int64_t episode) const { return row(values_, episode); }

  std::int64_t pieces() const { return first_piece_.back(); }
  /// The pieces of an episode are [first_piece, last_piece).
  std::int64_t first_piece(std::int64_t episode) const {
    return first_piece_[static_cast<std::size_t>(episode)];
  }
  std::int64_t last_piece(std::int64_t episode) const { return first_piece(episode + 1); }
  /// The sums of one piece, [layout().size()].
  std::span<const double> piece(std::int64_t piece) const {
    return row(pieces_.empty() ? values_ : pieces_, piece);
  }

 private:
  EpisodeStatistics(const StatisticsLayout& layout, const Workers& workers)
      : layout_(layout), workers_(workers) {}
  std::span<const double> row(const std::vector<double>& rows, std::int64_t i) const {
    return {rows.data() + i * layout_.size(), static_cast<std::size_t>(layout_.size())};
  }

  StatisticsLayout layout_;
  std::int64_t episodes_ = 0;
  double total_steps_ = 0.0;
  Workers workers_;
  std::vector<std::int64_t> first_piece_{0};  // [episodes + 1]
  std::vector<double> values_;                // [episodes, size]
  std::vector<double> pieces_;                // [pieces, size]; empty where episodes are one each
};

}  // namespace kindred
