// Observations as rows of a few numbers that can be compared: what baselines and matching look at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/data/trajectories.h"

namespace kindred::findings {

/// [rows, width]
struct StateRows {
  std::int64_t width = 0;
  std::vector<float> values;

  std::int64_t count() const { return width > 0 ? std::ssize(values) / width : 0; }
  const float* row(std::int64_t i) const { return values.data() + i * width; }
};

/// The observations of some steps. Where they have more than `most` numbers, as pictures do, each
/// number of a row is the mean of a block of neighbouring ones.
StateRows state_rows(const Observations& observations, std::span<const std::int64_t> steps,
                     std::int64_t most);

/// Brings every column to mean 0 and deviation 1; one that never changes becomes 0.
void standardise(std::vector<float>& values, std::int64_t width);

}  // namespace kindred::findings
