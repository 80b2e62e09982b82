// Steps in like states: what is compared with what.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "kindred/methods/policy_search/conflicts/common_policy.h"
#include "kindred/methods/policy_search/conflicts/step_halves.h"

namespace kindred::policy_search {

/// Steps of one half, side by side.
struct StepSample {
  std::vector<std::int64_t> steps;     // in order
  std::vector<std::int32_t> episodes;  // of each
  std::vector<float> states;           // by the metric: [numbers][steps]
  std::vector<float> residuals;        // of the common policy, in deviations: [steps][targets]
};

/// Both halves of the steps, and what one deviation of their residuals is.
struct SampledHalves {
  std::array<StepSample, 2> half;
  std::vector<double> deviations;  // [targets]
};

/// Where steps are, and what one policy of all episodes does there.
struct Background {
  Trajectories states;
  FeatureMap metric;  ///< Of `states`.
  Trajectories seen;  ///< By the common policy, with the same actions.
  CommonPolicy common;
};

/// The given steps of each half. Residuals are cut off a few deviations from 0.
SampledHalves look_at(const Background& background,
                      const std::array<std::vector<std::int64_t>, 2>& steps,
                      const Workers& workers);

/// How many steps of a half can all be compared with one another, with so many numbers each.
std::int64_t most_compared(std::int64_t numbers);

inline constexpr float kNowhere = std::numeric_limits<float>::infinity();

/// Squared distances of the point, [numbers], from all points, [numbers][n].
void distances_from(std::span<const float> point, std::span<const float> points,
                    std::span<float> distances);

/// The least of the distances.
float nearest(std::span<const float> distances);

/// The one that is most nearly so far, if none of the two is more than `most` times the other.
std::optional<std::size_t> at_distance(float distance, std::span<const float> distances,
                                       double most);

}  // namespace kindred::policy_search
