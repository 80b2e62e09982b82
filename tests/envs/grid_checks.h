// What tests of gridworlds share: moves by number, cells by plane, and whether counts fit chances.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kindred/envs/environment.h"
#include "kindred/envs/grid.h"

namespace kindred {

inline constexpr std::array kAllMoves = {Move::kUp, Move::kDown, Move::kLeft, Move::kRight,
                                         Move::kStay};

inline std::int32_t number(Move move) { return static_cast<std::int32_t>(move); }

/// Whether `successes` of `trials` is within five standard deviations of probability p.
inline ::testing::AssertionResult plausible(std::int64_t successes, std::int64_t trials, double p) {
  const double expected = static_cast<double>(trials) * p;
  const double bound = 5.0 * std::sqrt(expected * (1.0 - p)) + 1e-9;
  if (std::abs(static_cast<double>(successes) - expected) <= bound)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << successes << " of " << trials << ", expected " << expected << " give or take " << bound;
}

/// The cells marked in one plane of an observation.
inline std::vector<Cell> marked(const EnvironmentSpec& spec, std::span<const float> observation,
                                std::int64_t plane) {
  std::vector<Cell> cells;
  const auto size = spec.observation_shape.at(0), planes = spec.observation_shape.at(2);
  for (std::int64_t row = 0; row < size; ++row)
    for (std::int64_t column = 0; column < size; ++column)
      if (observation[static_cast<std::size_t>((row * size + column) * planes + plane)] == 1.0f)
        cells.push_back({static_cast<int>(row), static_cast<int>(column)});
  return cells;
}

inline Cell agent_in(const EnvironmentSpec& spec, std::span<const float> observation) {
  return marked(spec, observation, 1).at(0);
}

}  // namespace kindred
