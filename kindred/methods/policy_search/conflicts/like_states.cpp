#include "kindred/methods/policy_search/conflicts/like_states.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/vectorise.h"
#include "kindred/policies/exact_policies.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kMostSampled = 10000;  // steps of each half
constexpr double kMostProducts = 1.5e9;       // of two steps and a number
constexpr double kFarthestResidual = 5.0;     // deviations
constexpr float kNoDistance = 1e-9F;          // squared, below which states are the same

KINDRED_VECTORISE
void add_squares(std::size_t n, std::size_t numbers, const float* __restrict points,
                 const float* __restrict point, float* __restrict out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = kNoDistance;
  for (std::size_t j = 0; j < numbers; ++j) {
    const float x = point[j];
    const float* __restrict column = points + j * n;
    for (std::size_t i = 0; i < n; ++i) out[i] += (column[i] - x) * (column[i] - x);
  }
}

/// The least of n numbers that is not below `from`, or kNowhere.
KINDRED_VECTORISE
float least_from(float from, std::size_t n, const float* __restrict numbers) {
  constexpr std::size_t kLanes = 16;
  float least[kLanes];
  for (auto& lane : least) lane = kNowhere;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float x = numbers[i + lane] < from ? kNowhere : numbers[i + lane];
      least[lane] = x < least[lane] ? x : least[lane];
    }
  for (; i < n; ++i)
    if (numbers[i] >= from && numbers[i] < least[0]) least[0] = numbers[i];
  return *std::min_element(least, least + kLanes);
}

/// The greatest of n numbers that is below `limit`, or 0.
KINDRED_VECTORISE
float greatest_below(float limit, std::size_t n, const float* __restrict numbers) {
  constexpr std::size_t kLanes = 16;
  float greatest[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float x = numbers[i + lane] < limit ? numbers[i + lane] : 0.0F;
      greatest[lane] = x > greatest[lane] ? x : greatest[lane];
    }
  for (; i < n; ++i)
    if (numbers[i] < limit && numbers[i] > greatest[0]) greatest[0] = numbers[i];
  return *std::max_element(greatest, greatest + kLanes);
}

/// The numbers of an observation by the metric.
void measure(const FeatureMap& map, std::span<const float> row, std::span<double> state) {
  std::vector<double> features(static_cast<std::size_t>(map.count()));
  map.apply(row, features);
  const auto n = std::ssize(state);
  const auto& metric = map.metric();
  for (std::int64_t j = 0; j < n; ++j) {
    auto& to = state[static_cast<std::size_t>(j)];
    to = 0.0;
    for (auto i = metric.empty() ? j : n - 1; i >= j; --i)
      to += features[static_cast<std::size_t>(1 + i)] *
            (metric.empty() ? 1.0 : metric[static_cast<std::size_t>(i * n + j)]);
  }
}

StepSample look_at_half(const Background& background, const ActionTargets& targets,
                        std::vector<std::int64_t> steps, const Workers& workers) {
  StepSample sample;
  const auto& data = background.states;
  const auto dim = background.metric.inputs().count(), width = targets.count();
  sample.steps = std::move(steps);
  const auto n = sample.steps.size();
  sample.episodes.resize(n);
  for (std::size_t s = 0; s < n; ++s)
    sample.episodes[s] = static_cast<std::int32_t>(
        std::ranges::upper_bound(data.offsets.span(), sample.steps[s]) - data.offsets.begin() - 1);
  sample.states.resize(n * static_cast<std::size_t>(dim));
  sample.residuals.resize(n * static_cast<std::size_t>(width));
  workers.chunks(static_cast<std::int64_t>(n), 256, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> row(static_cast<std::size_t>(background.metric.obs_dim()));
    std::vector<double> state(static_cast<std::size_t>(dim)),
        residual(static_cast<std::size_t>(width));
    for (auto s = static_cast<std::size_t>(begin); s < static_cast<std::size_t>(end); ++s) {
      data.observations.copy(sample.steps[s], sample.steps[s] + 1, row.data());
      measure(background.metric, row, state);
      background.common.miss(background.seen, targets, sample.episodes[s], sample.steps[s],
                             residual);
      for (std::size_t j = 0; j < state.size(); ++j)
        sample.states[j * n + s] = static_cast<float>(state[j]);
      for (std::size_t d = 0; d < residual.size(); ++d)
        sample.residuals[s * residual.size() + d] = static_cast<float>(residual[d]);
    }
  });
  return sample;
}

/// Residuals in deviations, and none beyond a few of them. Returns the deviations, [targets].
std::vector<double> standardise(std::size_t targets, std::array<StepSample, 2>& halves) {
  std::vector<double> squares(targets, 0.0);
  double count = 0.0;
  for (const auto& half : halves) {
    count += static_cast<double>(half.steps.size());
    for (std::size_t i = 0; i < half.residuals.size(); ++i)
      squares[i % targets] += std::pow(half.residuals[i], 2);
  }
  for (auto& square : squares)
    square = count > 0.0 ? std::sqrt(std::max(square / count, kLeastNoise)) : 1.0;
  for (auto& half : halves)
    for (std::size_t i = 0; i < half.residuals.size(); ++i)
      half.residuals[i] = static_cast<float>(std::clamp(half.residuals[i] / squares[i % targets],
                                                        -kFarthestResidual, kFarthestResidual));
  return squares;
}

}  // namespace

SampledHalves look_at(const Background& background,
                      const std::array<std::vector<std::int64_t>, 2>& steps,
                      const Workers& workers) {
  const ActionTargets targets(background.states.actions);
  SampledHalves result;
  for (const std::size_t which : {0UL, 1UL})
    result.half[which] = look_at_half(background, targets, steps[which], workers);
  result.deviations = standardise(static_cast<std::size_t>(targets.count()), result.half);
  return result;
}

std::int64_t most_compared(std::int64_t numbers) {
  return std::min(kMostSampled,
                  static_cast<std::int64_t>(std::sqrt(
                      kMostProducts / static_cast<double>(std::max<std::int64_t>(1, numbers)))));
}

void distances_from(std::span<const float> point, std::span<const float> points,
                    std::span<float> distances) {
  add_squares(distances.size(), point.size(), points.data(), point.data(), distances.data());
}

float nearest(std::span<const float> distances) {
  return least_from(0.0F, distances.size(), distances.data());
}

std::optional<std::size_t> at_distance(float distance, std::span<const float> distances,
                                       double most) {
  const float above = least_from(distance, distances.size(), distances.data());
  const float below = greatest_below(distance, distances.size(), distances.data());
  const bool nearer = below > 0.0F && distance / below < above / distance;
  const float found = nearer ? below : above;
  const float times = nearer ? distance / found : found / distance;
  if (!(times <= static_cast<float>(most * most))) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find(distances, found) - distances.begin());
}

}  // namespace kindred::policy_search
