// Whether two clusters are two policies, or one that went two ways: then the state tells as well as
// the cluster what is done.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred {

/// What it tells, in nats, to know which of two policies acts where the state is known. Two
/// policies differ at least where their ways part.
struct NamedGain {
  static constexpr std::int64_t kEnoughEpisodes = 12;  ///< Fewer prove nothing.

  double sum = 0.0;
  double error = 0.0;  ///< Standard error over episodes.
  /// For certain no more than features that only approximate one policy leave unexplained.
  bool is_little = false;
  /// Nearly as much as an episode can count, nearly everywhere: two policies beyond doubt.
  bool is_clear = false;
};

/// Of the steps of two labels: `nats` [steps, k] and `as_one` [steps] are StepEvidence's.
NamedGain named_gain(const Matrix& nats, std::span<const double> as_one,
                     std::span<const std::int32_t> labels, std::span<const std::int64_t> offsets,
                     std::int32_t first, std::int32_t second);

}  // namespace kindred
