// The sums over an episode's steps that exact policies need: made in one pass over the data, added
// over the episodes of a cluster or a fold. After that no step is looked at again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/workers.h"
#include "kindred/dist/common_memory.h"
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

/// Sums of the first features from those of all, which begin with the same: `few` has as many
/// targets.
void copy_sums_of_first(const StatisticsLayout& all, const double* sums,
                        const StatisticsLayout& few, double* out);

/// Steps [begin, end) of an episode in pieces of about 200 steps, so that a part that went where no
/// other episode did can be told from the rest.
std::vector<std::pair<std::int64_t, std::int64_t>> pieces_of(std::int64_t begin, std::int64_t end);

/// The sums of each cluster, [k, size], without keeping those of episodes. They do not depend on
/// the number of threads or of ranks, each of which looks at the episodes it holds; on another
/// device than the CPU they differ by rounding.
std::vector<double> cluster_sums(const Trajectories& data, const FeatureMap& map,
                                 const ActionTargets& targets, std::span<const std::int32_t> labels,
                                 std::int64_t k, const Workers& workers,
                                 const std::string& device = "cpu",
                                 Communicator& ranks = *one_process());

/// The sums of steps [begin, end): [size].
std::vector<double> step_sums(const Trajectories& data, std::int64_t begin, std::int64_t end,
                              const FeatureMap& map, const ActionTargets& targets);

/// What products of steps are made as. Those of floats, added up in double a block at a time, take
/// half as long and are right to about 1e-6: enough to fit a policy, but not to find errors as
/// differences of sums.
enum class ProductsAs { kDoubles, kFloats };

/// Adds up steps whose features and targets are known. Nothing is allocated after it is made.
class StepProducts {
 public:
  static constexpr std::int64_t kMostRows = 128;  ///< So many stay in the cache.

  explicit StepProducts(const StatisticsLayout& layout, ProductsAs as = ProductsAs::kDoubles);

  /// Where steps are put down, at most kMostRows: the features of one, then its targets, and the
  /// next `stride` numbers on. Features have room for FeatureMap::kRoom more numbers, so targets
  /// come last.
  double* rows() { return rows_.data(); }
  double* targets() { return rows() + layout_.features; }
  std::int64_t stride() const { return stride_; }
  /// The first n of them join those before.
  void add_rows(std::int64_t n);
  /// The same for steps put down as floats, where products are made of these.
  float* float_rows() { return float_rows_.data(); }
  void add_float_rows(std::int64_t n);
  /// Adds the sums of all that joined to `sums`, or sets these to them, and begins anew.
  void finish(double* sums, bool accumulate = true);

  /// All at once: `features` [n, features], `targets` [n, targets].
  void add(std::int64_t n, const double* features, const double* targets, double* sums);

 private:
  StatisticsLayout layout_;
  std::int64_t stride_;
  std::int64_t steps_ = 0;        // that joined
  std::vector<double> rows_;      // [kMostRows, stride]
  std::vector<double> products_;  // [features + targets, stride]
  // A block as floats, where they are multiplied as such.
  std::vector<float> float_rows_, float_products_;
};

/// Adds the sums of steps, a block of rows at a time.
class StepSums {
 public:
  /// All must outlive this.
  StepSums(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
           ProductsAs as = ProductsAs::kDoubles);

  /// Of steps [begin, end), to `sums`, [size], or sets these to them.
  void add(std::int64_t begin, std::int64_t end, double* sums, bool accumulate = true);

 private:
  const Trajectories& data_;
  const FeatureMap& map_;
  const ActionTargets& targets_;
  std::vector<float> seen_;
  StepProducts products_;
};

/// Which of k clusters each episode is in; below 0 it is in none.
struct Labelling {
  std::vector<std::int32_t> labels;
  std::int64_t k;
};

/// Some pieces, in order, and a policy, [features, targets], to predict them by.
struct PiecesOfPolicy {
  std::vector<std::int64_t> pieces;
  std::vector<double> policy;
};

/// What exact policies ask of the steps of episodes, however these are kept. Long episodes are
/// judged in pieces.
class EpisodeStatistics {
 public:
  virtual ~EpisodeStatistics() = default;

  /// Of some of the episodes.
  virtual std::unique_ptr<EpisodeStatistics> subset(
      std::span<const std::int64_t> episodes) const = 0;
  /// The sums of each cluster, [k, layout().size()]; labels below 0 belong to none.
  virtual std::vector<double> cluster_sums(std::span<const std::int32_t> labels,
                                           std::int64_t k) const = 0;
  /// The same by several labellings at once: [labellings], each [k, layout().size()].
  virtual std::vector<std::vector<double>> sums_by(std::span<const Labelling> labellings) const;
  /// The sums of one piece, [layout().size()].
  virtual std::vector<double> piece_sums(std::int64_t piece) const = 0;
  /// Squared errors of every episode under each of k policies side by side, weights [features, k ×
  /// targets], each over the noise of its target and added: [episodes, k].
  virtual Matrix episode_costs(std::span<const double> weights, std::int64_t k,
                               std::span<const double> noise) const = 0;
  /// Squared errors of some pieces under one policy, [features, targets]: [pieces, targets].
  virtual Matrix piece_errors(std::span<const std::int64_t> pieces,
                              std::span<const double> policy) const = 0;
  /// The same under several policies at once.
  virtual std::vector<Matrix> errors_under(std::span<const PiecesOfPolicy> asked) const;

  /// Partial pooling: from now on every policy has also seen `steps` steps of the usual mix of all
  /// episodes, so that one with few of its own stays near that of all.
  void pool(double steps);
  double pooled_steps() const { return pooled_steps_; }
  /// What is added to the sums of every policy, [layout().size()]; empty without pooling.
  const std::vector<double>& pooled() const { return pooled_; }

  const StatisticsLayout& layout() const { return layout_; }
  std::int64_t episodes() const { return std::ssize(first_piece_) - 1; }
  double total_steps() const { return total_steps_; }
  std::int64_t pieces() const { return first_piece_.back(); }
  /// The pieces of an episode are [first_piece, last_piece).
  std::int64_t first_piece(std::int64_t episode) const {
    return first_piece_[static_cast<std::size_t>(episode)];
  }
  std::int64_t last_piece(std::int64_t episode) const { return first_piece(episode + 1); }
  double piece_steps(std::int64_t piece) const {
    return piece_steps_[static_cast<std::size_t>(piece)];
  }
  const Workers& workers() const { return workers_; }
  /// To be called now and then by what is computed from statistics, which may take long: throws
  /// Interrupted when those who made them are asked to stop.
  void throw_if_stopped() const { workers_.throw_if_stopped(); }

 protected:
  EpisodeStatistics(const StatisticsLayout& layout, const Workers& workers)
      : layout_(layout), workers_(workers) {}

  void add_piece(std::int64_t steps) {
    piece_steps_.push_back(static_cast<double>(steps));
    total_steps_ += static_cast<double>(steps);
  }
  void end_episode() { first_piece_.push_back(std::ssize(piece_steps_)); }
  /// As in other statistics of the same features.
  void pool_like(const EpisodeStatistics& other) {
    pooled_steps_ = other.pooled_steps_;
    pooled_ = other.pooled_;
  }

 private:
  StatisticsLayout layout_;
  double pooled_steps_ = 0.0;
  std::vector<double> pooled_;
  Workers workers_;
  double total_steps_ = 0.0;
  std::vector<std::int64_t> first_piece_{0};  // [episodes + 1]
  std::vector<double> piece_steps_;           // [pieces]
};

/// Sums kept for every episode and piece: after one pass over the data no step is looked at again.
class KeptSums final : public EpisodeStatistics {
 public:
  /// Reads the data once, in order. Every rank has all of the data, looks at a share of the
  /// episodes and sees the sums of the others. Throws Interrupted when asked to stop.
  KeptSums(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
           const Workers& workers, const std::string& device = "cpu",
           Communicator& ranks = *one_process());

  /// Those of the first features alone, without another look at the data.
  std::unique_ptr<KeptSums> of_first(std::int64_t features) const;
  /// Each is one piece. They refer to the same sums, which stay as long as somebody does.
  std::unique_ptr<EpisodeStatistics> subset(std::span<const std::int64_t> episodes) const override;
  std::vector<double> cluster_sums(std::span<const std::int32_t> labels,
                                   std::int64_t k) const override;
  std::vector<std::vector<double>> sums_by(std::span<const Labelling> labellings) const override;
  std::vector<double> piece_sums(std::int64_t piece) const override {
    const auto sums = of_piece(piece);
    return {sums.begin(), sums.end()};
  }
  Matrix episode_costs(std::span<const double> weights, std::int64_t k,
                       std::span<const double> noise) const override;
  Matrix piece_errors(std::span<const std::int64_t> pieces,
                      std::span<const double> policy) const override;
  std::vector<Matrix> errors_under(std::span<const PiecesOfPolicy> asked) const override;

  /// The sums of one episode, [layout().size()].
  std::span<const double> of(std::int64_t episode) const {
    return row(values_, chosen_.empty() ? episode : chosen_[static_cast<std::size_t>(episode)]);
  }

 private:
  KeptSums(const StatisticsLayout& layout, const Workers& workers)
      : EpisodeStatistics(layout, workers) {}
  /// The sums of a whole episode from those of its pieces, where it has some.
  void add_pieces(std::int64_t episode);
  /// Numbers that no thread has touched yet: each sets its own rows. Rank r will do so for episodes
  /// [bounds[r], bounds[r + 1]).
  void make_room(std::span<const std::int64_t> bounds, Communicator& ranks);
  std::span<double> row(const CommonArray<double>& rows, std::int64_t i) const {
    return {rows.data() + i * layout().size(), static_cast<std::size_t>(layout().size())};
  }
  std::span<const double> of_piece(std::int64_t piece) const {
    return pieces_ ? row(pieces_, piece) : of(piece);
  }

  CommonArray<double> values_;        // [episodes, size]
  CommonArray<double> pieces_;        // [pieces, size]; none where episodes are one each
  std::vector<std::int64_t> chosen_;  // rows of values_, where these are some of others' episodes
};

}  // namespace kindred
