// What an exact policy is fitted on: features of observations, and actions as numbers without
// units.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kindred/clustering/network_inputs.h"
#include "kindred/data/trajectories.h"
#include "kindred/nn/gemm.h"

namespace kindred {

/// A constant, the standardised numbers of an observation within ±5 deviations, and random cosines
/// of them (random Fourier features, Rahimi and Recht 2007). Numbers that never vary are left out.
/// The cosines are the same for every dataset of as many numbers. Over `length` times the usual
/// distance between two observations a cosine changes its sign, about.
class FeatureMap {
 public:
  static constexpr double kFarthest = 5.0;                ///< Deviations from the mean.
  static constexpr std::int64_t kRoom = kDoubleLane - 1;  ///< See apply.

  FeatureMap(const Observations& observations, std::int64_t cosines, double length = 1.0);
  /// Of some of the numbers.
  FeatureMap(NetworkInputs inputs, std::int64_t cosines)
      : FeatureMap(std::move(inputs), cosines, 1.0) {}

  /// The same numbers, scaled the same, with another number of cosines.
  FeatureMap with_cosines(std::int64_t cosines) const { return with_cosines(cosines, length_); }
  FeatureMap with_cosines(std::int64_t cosines, double length) const {
    return {inputs_, cosines, length, metric_};
  }

  /// The same numbers, with cosines of metric · numbers: `metric` is lower triangular, [inputs,
  /// inputs], and says along which directions policies change (feature_metric.h). Distances between
  /// observations are those between their numbers times it.
  FeatureMap with_metric(std::vector<double> metric, std::int64_t cosines) const {
    return {inputs_, cosines, 1.0, std::move(metric)};
  }
  /// [inputs, inputs], or empty: every number counts the same.
  const std::vector<double>& metric() const { return metric_; }

  std::int64_t count() const { return 1 + inputs_.count() + cosines_; }
  const NetworkInputs& inputs() const { return inputs_; }
  std::int64_t cosines() const { return cosines_; }
  /// [inputs, cosines]
  const std::vector<double>& directions() const { return directions_; }
  /// [cosines]
  const std::vector<double>& phases() const { return phases_; }
  std::int64_t obs_dim() const { return inputs_.obs_dim; }
  /// Observations [n, obs_dim] → features [n, count].
  void apply(std::span<const float> rows, std::span<double> out) const;
  /// The same into rows `stride` numbers apart, of which each has room for kRoom more: these are
  /// left with numbers of no meaning.
  void apply(std::span<const float> rows, double* out, std::int64_t stride) const;

  void save(ArrayFileWriter& file) const;
  static FeatureMap load(const ArrayFileReader& file);

 private:
  FeatureMap(NetworkInputs inputs, std::int64_t cosines, double length,
             std::vector<double> metric = {});

  NetworkInputs inputs_;
  std::int64_t cosines_;
  double length_;
  std::vector<double> metric_;
  std::vector<double> directions_;  // [inputs, cosines]
  std::vector<double> phases_;      // [cosines]
  // Both in half turns, padded to whole lanes.
  std::vector<double> turns_;        // [inputs, padded cosines]
  std::vector<double> first_turns_;  // [padded cosines]
  /// Inputs from columns side by side.
  struct Run {
    std::int64_t input, column, size;
  };
  std::vector<Run> runs_;
};

/// Continuous actions standardised over the dataset; discrete ones as a standardised 0 or 1 for
/// each action. What never varies is left out; where nothing varies, one target is always 0.
class ActionTargets {
 public:
  explicit ActionTargets(const Actions& actions);

  std::int64_t count() const { return static_cast<std::int64_t>(columns_.size()); }
  bool discrete() const { return discrete_; }
  /// How many there are, or numbers per action when continuous.
  std::int64_t actions() const { return actions_; }
  /// Steps [begin, end) → targets [end - begin, count].
  void copy(const Actions& actions, std::int64_t begin, std::int64_t end,
            std::span<double> out) const {
    copy(actions, begin, end, out.data(), count());
  }
  /// The same into rows `stride` numbers apart.
  void copy(const Actions& actions, std::int64_t begin, std::int64_t end, double* out,
            std::int64_t stride) const;

  /// The mean action in the data's own units where the targets are linear in features: their
  /// weights [features, count], the first of a constant 1 → [features, actions]. Of discrete
  /// actions these are chances, but for those that come out below 0 or do not add up to 1.
  std::vector<double> in_units(std::span<const double> weights) const;
  /// Deviations of a continuous action from variances of the targets: [actions].
  std::vector<double> deviations(std::span<const double> variances) const;

  /// By how many nats per step likelihoods of targets exceed those of actions in their own units.
  double log_units() const;

  void save(ArrayFileWriter& file) const;
  static ActionTargets load(const ArrayFileReader& file);

 private:
  ActionTargets() = default;
  static double value(const Actions& actions, std::int64_t step, std::int64_t column);

  bool discrete_ = false;
  std::int64_t actions_ = 0;
  std::vector<std::int64_t> columns_;  // of a continuous action, or discrete actions
  std::vector<double> mean_, scale_;   // [count]; the scale is one over the deviation
  std::vector<double> usual_;          // [actions]: what those left out always are
};

}  // namespace kindred
