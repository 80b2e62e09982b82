// Where it is not clear who acts: whoever is named did with a chance below 90 %. A takeover that
// leaves little trace is no switch, but it is not passed over in silence either.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"

namespace kindred {

/// A policy that may have acted in a stretch.
struct Candidate {
  std::int32_t policy = 0;
  double chance = 0.0;  ///< On average over the steps of the stretch.
  /// Steps [first, end) around the stretch, or within it, at all of which it may have acted: with a
  /// chance of at least 1 %. A takeover that shows late may have been long before.
  std::int64_t first = 0;
  std::int64_t end = 0;
};

struct UnsureStretch {
  std::int64_t episode = 0;
  std::int64_t begin = 0;  ///< Its first step, from 0 in the episode.
  std::int64_t end = 0;    ///< The step after its last one.
  /// The likeliest first. At every step one of them acted with a chance of at least 90 %.
  std::vector<Candidate> candidates{};
};

/// From the chance of each policy, [steps, k], and who is named for each step. In order.
std::vector<UnsureStretch> unsure_stretches(const Matrix& posteriors,
                                            std::span<const std::int32_t> actors,
                                            std::span<const std::int64_t> offsets);

}  // namespace kindred
