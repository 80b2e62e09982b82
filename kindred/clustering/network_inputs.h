// How a network sees an observation: which numbers reach it, and how they are scaled.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/data/array_file.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Whether observations are scaled by the dataset's mean and deviation; auto leaves observations of
/// zeros and ones (gridworlds) as they are, however they are stored.
enum class Standardize { kAuto, kOn, kOff };

/// On or off. Auto reads observations up to the first number that is neither 0 nor 1.
Standardize resolve_standardize(Standardize requested, const Observations& observations);

struct NetworkInputs {
  std::int64_t obs_dim = 0;
  std::vector<std::int64_t> columns;  ///< [inputs]
  std::vector<float> mean;            ///< [inputs]
  std::vector<float> scale;           ///< [inputs]: one over the deviation.

  /// Leaves out columns that are zero throughout (they would never receive a gradient); with
  /// `standardize` also those that never vary, and scales the others by mean and deviation.
  static NetworkInputs from(const Observations& observations, bool standardize);

  std::int64_t count() const { return static_cast<std::int64_t>(columns.size()); }

  /// Observation rows [n, obs_dim] → out [n, inputs].
  void apply(std::span<const float> rows, std::span<float> out) const;
  /// The given steps of a dataset → out [steps, inputs].
  void gather(const Observations& observations, std::span<const std::int64_t> steps,
              std::span<float> out) const;

  void save(ArrayFileWriter& file) const;
  static NetworkInputs load(const ArrayFileReader& file);
};

}  // namespace kindred
