// Policies in closed form as centres.
#pragma once

#include <memory>
#include <vector>

#include "kindred/policies/centres.h"
#include "kindred/policies/exact_policies.h"

namespace kindred {

/// Scores are log-likelihoods of the standardised actions, where no piece of an episode counts more
/// than kMostUnusual times the usual error.
class ExactCentres final : public PolicyCentres {
 public:
  /// weights: [features, count × targets]; noise: [targets], the usual squared error of a step;
  /// own_noise: [count, targets], that of each centre, empty where it is not known; ridge: with
  /// which policies were fitted.
  ExactCentres(FeatureMap map, ActionTargets targets, std::vector<double> weights,
               std::vector<double> noise, std::vector<double> own_noise, double ridge);

  std::int64_t count() const override { return count_; }
  Matrix score(const Trajectories& data, const RunContext& run) const override;
  /// The same, but for rounding, from sums of the same features and targets.
  Matrix score(const EpisodeStatistics& statistics) const;
  bool sums_over_steps() const override { return true; }
  /// By what a policy of the episode's own would explain better. Empty where the centres' own noise
  /// is not known.
  std::vector<double> surprises(const Trajectories& data, std::span<const std::int32_t> labels,
                                const RunContext& run) const override;
  void save(ArrayFileWriter& file) const override;

  /// Continuous actions are Gaussian, with the centre's usual errors. Of discrete ones, chances
  /// that come out below a millionth are taken for that, and all are brought to add up to 1.
  void distribution(std::int64_t centre, std::span<const float> observations,
                    std::span<float> out) const override;
  std::int64_t obs_dim() const override { return map_.obs_dim(); }
  bool discrete() const override { return targets_.discrete(); }
  std::int64_t actions() const override { return targets_.actions(); }

  /// What every centre expects of the targets in one state: [count, targets].
  std::vector<double> expected_targets(std::span<const float> observation) const;

  static constexpr double kLeastChance = 1e-6;
  const FeatureMap& map() const { return map_; }
  /// Of a centre in the units of the data: [features, actions].
  std::vector<double> weights_of(std::int64_t centre) const;
  /// The same of the usual errors of a continuous action: [actions].
  std::vector<double> deviations_of(std::int64_t centre) const;

  static std::shared_ptr<const Centres> load(const ArrayFileReader& file);

 private:
  /// Adds what a piece of so many steps says for a centre, by its squared errors, [targets].
  void add_piece(double steps, std::span<const double> errors, double& score) const;
  /// Of one centre: [features, targets].
  std::vector<double> policy(std::int64_t centre) const;

  FeatureMap map_;
  ActionTargets targets_;
  std::int64_t count_;
  std::vector<double> weights_;    // [features, count × targets]
  std::vector<double> noise_;      // [targets]: variance
  std::vector<double> own_noise_;  // [count, targets]
  double ridge_;
  double log_noise_ = 0.0;  // of one step: what no error changes
};

}  // namespace kindred
