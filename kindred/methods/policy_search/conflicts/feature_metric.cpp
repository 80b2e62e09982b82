#include "kindred/methods/policy_search/conflicts/feature_metric.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "kindred/core/random.h"
#include "kindred/methods/policy_search/conflicts/common_policy.h"
#include "kindred/policies/exact_policies.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kMetricSteps = 6000;  // that are looked at, about
constexpr std::int64_t kMetricCosines = 150;
constexpr std::int64_t kStepsPerMetricCosine = 20;
constexpr std::int64_t kGradients = 1500;  // steps at which the policy's gradient is taken
constexpr int kMetricRounds = 3;
constexpr double kLengths[] = {1.0, 0.5};
constexpr double kRidges[] = {3.0, 30.0};
constexpr double kPoolOfEpisode = 100.0;  // steps of everybody's behind an episode's policy
constexpr double kEpisodesShare = 0.5;    // of their gradients, next to those of the one policy
constexpr double kFloor = 0.02;           // every number counts a little

/// Square, [n, n], row by row.
using Square = std::vector<double>;

void add_outer_product(std::int64_t n, std::span<const double> gradient, double share, Square& to) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      to[static_cast<std::size_t>(i * n + j)] +=
          share * gradient[static_cast<std::size_t>(i)] * gradient[static_cast<std::size_t>(j)];
}

void scale_to_unit_trace(std::int64_t n, Square& matrix) {
  double trace = 0.0;
  for (std::int64_t i = 0; i < n; ++i) trace += matrix[static_cast<std::size_t>(i * n + i)];
  if (trace > 0.0)
    for (auto& number : matrix) number /= trace;
}

class MetricLearner {
 public:
  MetricLearner(const Trajectories& data, const FeatureMap& numbers, const ActionTargets& targets,
                const Workers& workers)
      : data_(some_episodes(data, kMetricSteps)),
        numbers_(numbers),
        targets_(targets),
        workers_(workers),
        n_(numbers.inputs().count()),
        cosines_(std::min(kMetricCosines, data_.steps() / kStepsPerMetricCosine)),
        folds_(draw_folds(data_.ids, kCommonFolds, 1).front()) {}

  LearnedMetric learn() {
    const auto of_episodes = gradients_of_episodes();
    Square factor(static_cast<std::size_t>(n_ * n_), 0.0);  // every number counts the same
    for (std::int64_t i = 0; i < n_; ++i)
      factor[static_cast<std::size_t>(i * n_ + i)] = 1.0 / std::sqrt(static_cast<double>(n_));
    std::optional<CommonPolicy> best;
    for (int round = 0; round <= kMetricRounds; ++round) {
      for (const double length : kLengths) {
        if (round == 0 && length != 1.0) continue;
        auto scaled = factor;
        for (auto& number : scaled) number /= length;
        auto policy = fit_all(scaled);
        if (!best || policy.score() > best->score()) best.emplace(std::move(policy));
      }
      if (round == kMetricRounds) break;
      auto metric = gradients_of(*best);
      scale_to_unit_trace(n_, metric);
      for (std::size_t i = 0; i < metric.size(); ++i) metric[i] += kEpisodesShare * of_episodes[i];
      scale_to_unit_trace(n_, metric);
      for (std::int64_t i = 0; i < n_; ++i)
        metric[static_cast<std::size_t>(i * n_ + i)] += kFloor / static_cast<double>(n_);
      scale_to_unit_trace(n_, metric);
      factor = lower_factor(n_, std::move(metric));
    }
    return {best->map().metric(), best->noise()};
  }

 private:
  /// One policy for all, on cosines by a metric.
  CommonPolicy fit_all(const Square& factor) const {
    auto map = numbers_.with_metric(factor, cosines_);
    const StatisticsLayout layout{map.count(), targets_.count()};
    std::vector<double> sums(static_cast<std::size_t>(kCommonFolds * layout.size()), 0.0);
    workers_.chunks(kCommonFolds, 1, [&](std::int64_t fold, std::int64_t) {
      StepSums steps(data_, map, targets_);
      for (std::int64_t i = 0; i < data_.episodes(); ++i)
        if (folds_[static_cast<std::size_t>(i)] == fold)
          steps.add(data_.offsets[i], data_.offsets[i + 1], sums.data() + fold * layout.size());
    });
    return CommonPolicy(std::move(map), targets_.count(), folds_, std::move(sums), kRidges);
  }

  /// The mean outer product of a fit's gradients with respect to the numbers.
  Square gradients_of(const CommonPolicy& fit) const {
    const auto& map = fit.map();
    const auto targets = targets_.count(), steps = std::min(kGradients, data_.steps());
    const auto parts = std::min<std::int64_t>(16, steps);
    std::vector<Square> sums(static_cast<std::size_t>(parts),
                             Square(static_cast<std::size_t>(n_ * n_), 0.0));
    workers_.chunks(parts, 1, [&](std::int64_t part, std::int64_t) {
      std::vector<float> row(static_cast<std::size_t>(map.obs_dim()));
      std::vector<double> numbers(static_cast<std::size_t>(numbers_.count())),
          gradient(static_cast<std::size_t>(n_ * targets));
      for (auto s = steps * part / parts; s < steps * (part + 1) / parts; ++s) {
        const auto t = s * data_.steps() / steps;
        data_.observations.copy(t, t + 1, row.data());
        numbers_.apply(row, numbers);
        for (std::int64_t i = 0; i < n_; ++i)
          for (std::int64_t d = 0; d < targets; ++d)
            gradient[static_cast<std::size_t>(d * n_ + i)] =
                fit.weights()[static_cast<std::size_t>((1 + i) * targets + d)];
        for (std::int64_t c = 0; c < cosines_; ++c) {
          double angle = map.phases()[static_cast<std::size_t>(c)];
          for (std::int64_t i = 0; i < n_; ++i)
            angle += numbers[static_cast<std::size_t>(1 + i)] *
                     map.directions()[static_cast<std::size_t>(i * cosines_ + c)];
          const double slope = -std::numbers::sqrt2 * std::sin(angle);
          for (std::int64_t d = 0; d < targets; ++d) {
            const double weight =
                slope * fit.weights()[static_cast<std::size_t>((1 + n_ + c) * targets + d)];
            for (std::int64_t i = 0; i < n_; ++i)
              gradient[static_cast<std::size_t>(d * n_ + i)] +=
                  weight * map.directions()[static_cast<std::size_t>(i * cosines_ + c)];
          }
        }
        for (std::int64_t d = 0; d < targets; ++d)
          add_outer_product(n_, std::span(gradient).subspan(static_cast<std::size_t>(d * n_)), 1.0,
                            sums[static_cast<std::size_t>(part)]);
      }
    });
    for (std::size_t part = 1; part < sums.size(); ++part)
      for (std::size_t i = 0; i < sums.front().size(); ++i) sums.front()[i] += sums[part][i];
    return sums.front();
  }

  /// The same of a linear policy for each episode, which begins from that of all: directions along
  /// which policies differ although their mean does not change. Of unit trace.
  Square gradients_of_episodes() const {
    const KeptSums statistics(data_, numbers_, targets_, workers_);
    const auto& layout = statistics.layout();
    std::vector<double> prior(static_cast<std::size_t>(layout.size()), 0.0);
    for (std::int64_t i = 0; i < data_.episodes(); ++i)
      for (std::size_t p = 0; p < prior.size(); ++p) prior[p] += statistics.of(i)[p];
    for (auto& sum : prior) sum *= kPoolOfEpisode / static_cast<double>(data_.steps());
    Square result(static_cast<std::size_t>(n_ * n_), 0.0);
    for (std::int64_t e = 0; e < data_.episodes(); ++e) {
      auto sums = prior;
      for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += statistics.of(e)[p];
      const auto policy = solve_policy(layout, sums, 1.0);
      std::vector<double> gradient(static_cast<std::size_t>(n_));
      for (std::int64_t d = 0; d < layout.targets; ++d) {
        for (std::int64_t i = 0; i < n_; ++i)
          gradient[static_cast<std::size_t>(i)] =
              policy[static_cast<std::size_t>((1 + i) * layout.targets + d)];
        add_outer_product(n_, gradient, 1.0, result);
      }
    }
    scale_to_unit_trace(n_, result);
    return result;
  }

  Trajectories data_;
  const FeatureMap& numbers_;
  const ActionTargets& targets_;
  const Workers& workers_;
  std::int64_t n_;  // numbers per observation
  std::int64_t cosines_;
  std::vector<std::int32_t> folds_;  // [episodes]
};

}  // namespace

std::vector<double> lower_factor(std::int64_t n, std::vector<double> matrix) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
    return matrix[static_cast<std::size_t>(i * n + j)];
  };
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      double sum = at(i, j);
      for (std::int64_t l = 0; l < j; ++l) sum -= at(i, l) * at(j, l);
      at(i, j) = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / at(j, j);
    }
    for (std::int64_t i = 0; i < j; ++i) at(i, j) = 0.0;
  }
  return matrix;
}

LearnedMetric learn_metric(const Trajectories& data, const FeatureMap& numbers,
                           const ActionTargets& targets, const Workers& workers) {
  return MetricLearner(data, numbers, targets, workers).learn();
}

}  // namespace kindred::policy_search
