#include "kindred/methods/policy_search/evidence/screening.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kindred/methods/policy_search/conflicts/step_halves.h"
#include "kindred/methods/policy_search/evidence/evidence.h"
#include "kindred/policies/exact_policies.h"

namespace kindred::policy_search {
namespace {

constexpr double kClearly = 4.0;      // standard errors: of thousands by chance hardly one
constexpr std::int64_t kAtOnce = 16;  // numbers that a round adds
constexpr std::int64_t kMostSteps = 10'000, kMostValues = 20'000'000;
constexpr double kRidge = 10.0;

/// A sum over episodes in units of its standard error where its mean is 0.
struct OverEpisodesSum {
  double sum = 0.0, squares = 0.0;

  void add(double value) {
    sum += value;
    squares += value * value;
  }
  double z() const { return squares > 0.0 ? std::abs(sum) / std::sqrt(squares) : 0.0; }
};

/// Of one number and one target in one episode: sums over the steps of each half.
struct HalfSums {
  std::array<double, 2> products{}, numbers{}, targets{}, steps{};

  /// How the two go together about their means in the episode.
  double together(std::size_t half) const {
    return steps[half] > 0.0 ? products[half] - numbers[half] * targets[half] / steps[half] : 0.0;
  }
};

class Screening {
 public:
  Screening(const Trajectories& data, const ActionTargets& targets, NetworkInputs inputs,
            const Workers& workers)
      : data_(some_episodes(
            data, std::min(kMostSteps, kMostValues / std::max<std::int64_t>(1, inputs.count())))),
        targets_(targets),
        inputs_(std::move(inputs)),
        workers_(workers),
        halves_(data_) {
    const auto n = inputs_.count(), steps = data_.steps();
    std::vector<float> rows(static_cast<std::size_t>(steps * n));
    std::vector<std::int64_t> all(static_cast<std::size_t>(steps));
    std::iota(all.begin(), all.end(), 0);
    inputs_.gather(data_.observations, all, rows);
    columns_.resize(rows.size());
    constexpr auto kMost = static_cast<float>(FeatureMap::kFarthest);
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::int64_t j = 0; j < n; ++j)
        columns_[static_cast<std::size_t>(j * steps + t)] =
            std::clamp(rows[static_cast<std::size_t>(t * n + j)], -kMost, kMost);
  }

  /// Rounds that add what clearly goes with what a policy that is linear in those before leaves
  /// unexplained, until nothing does.
  NetworkInputs choose() const {
    std::vector<std::size_t> chosen;
    while (std::ssize(chosen) < kMostNumbersSeen) {
      auto scores = scores_of(residuals(chosen));
      for (const auto j : chosen) scores[j] = 0.0;
      std::vector<std::size_t> order(scores.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, std::ranges::greater{},
                               [&](std::size_t j) { return scores[j]; });
      const auto clear =
          std::ranges::count_if(scores, [](double score) { return score >= kClearly; });
      if (clear == 0 && !chosen.empty()) break;
      const auto room = std::min(kAtOnce, kMostNumbersSeen - std::ssize(chosen));
      order.resize(static_cast<std::size_t>(clear == 0 ? room : std::min(room, clear)));
      chosen.insert(chosen.end(), order.begin(), order.end());
    }
    std::ranges::sort(chosen);
    return some(chosen);
  }

 private:
  NetworkInputs some(std::span<const std::size_t> chosen) const {
    NetworkInputs result{.obs_dim = inputs_.obs_dim, .columns = {}, .mean = {}, .scale = {}};
    for (const auto j : chosen) {
      result.columns.push_back(inputs_.columns[j]);
      result.mean.push_back(inputs_.mean[j]);
      result.scale.push_back(inputs_.scale[j]);
    }
    return result;
  }

  /// What one policy that is linear in these numbers misses: [targets][steps].
  std::vector<std::vector<double>> residuals(std::span<const std::size_t> chosen) const {
    const auto width = static_cast<std::size_t>(targets_.count());
    const auto steps = static_cast<std::size_t>(data_.steps());
    std::vector<double> done(steps * width), weights;
    targets_.copy(data_.actions, 0, data_.steps(), done);
    if (!chosen.empty()) {
      const FeatureMap map(some(chosen), 0);
      const StatisticsLayout layout{map.count(), targets_.count()};
      std::vector<double> sums(static_cast<std::size_t>(layout.size()), 0.0);
      StepSums(data_, map, targets_).add(0, data_.steps(), sums.data());
      weights = solve_policy(layout, sums, kRidge);
    }
    std::vector<std::vector<double>> result(width, std::vector<double>(steps));
    for (std::size_t d = 0; d < width; ++d)
      for (std::size_t t = 0; t < steps; ++t) {
        double expected = weights.empty() ? 0.0 : weights[d];
        for (std::size_t c = 0; c < chosen.size(); ++c)
          expected +=
              weights[(1 + c) * width + d] * static_cast<double>(columns_[chosen[c] * steps + t]);
        result[d][t] = done[t * width + d] - expected;
      }
    return result;
  }

  /// How clearly each number goes with some target: [inputs].
  std::vector<double> scores_of(const std::vector<std::vector<double>>& targets) const {
    std::vector<double> scores(static_cast<std::size_t>(inputs_.count()), 0.0);
    workers_.chunks(inputs_.count(), 16, [&](std::int64_t begin, std::int64_t end) {
      for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(end); ++j)
        for (const auto& target : targets) scores[j] = std::max(scores[j], score(j, target));
    });
    return scores;
  }

  /// Alike in all episodes, or in each in a way of its own that lasts from one half to the other.
  double score(std::size_t number, std::span<const double> target) const {
    const auto* column = columns_.data() + number * target.size();
    OverEpisodesSum alike, own;
    for (std::int64_t i = 0; i < data_.episodes(); ++i) {
      HalfSums sums;
      for (auto s = data_.offsets[i]; s < data_.offsets[i + 1]; ++s) {
        const auto t = static_cast<std::size_t>(s);
        const std::size_t half = halves_.of_steps()[t];
        const auto x = static_cast<double>(column[t]);
        sums.products[half] += x * target[t];
        sums.numbers[half] += x;
        sums.targets[half] += target[t];
        sums.steps[half] += 1.0;
      }
      alike.add(sums.products[0] + sums.products[1]);
      own.add(sums.together(0) * sums.together(1));
    }
    return std::max(alike.z(), own.z());
  }

  Trajectories data_;
  const ActionTargets& targets_;
  NetworkInputs inputs_;
  const Workers& workers_;
  StepHalves halves_;
  std::vector<float> columns_;  // [inputs][steps]
};

}  // namespace

FeatureMap telling_numbers(const Trajectories& data, const ActionTargets& targets,
                           const Workers& workers) {
  auto inputs = NetworkInputs::from(data.observations, true);
  if (inputs.count() > kMostNumbersSeen)
    inputs = Screening(data, targets, std::move(inputs), workers).choose();
  return FeatureMap(std::move(inputs), 0);
}

}  // namespace kindred::policy_search
