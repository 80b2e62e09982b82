// New stores made from some episodes of another, or from all of them in another order.
//
// Every column, id, label and oracle label travels with its episode; interned observations stay
// interned and share the table. Each function throws InvalidArgument when nothing would be left.
#pragma once

#include <cstdint>
#include <span>

#include "kindred/data/trajectories.h"

namespace kindred {

/// The given episodes in the given order; one may be named several times. Throws InvalidArgument
/// when one does not exist.
Trajectories select_episodes(const Trajectories& data, std::span<const std::int64_t> episodes);

/// Episodes of at least `min` and at most `max` steps.
Trajectories filter_by_length(const Trajectories& data, std::int64_t min, std::int64_t max);

/// All episodes in a random order, from the stream Random(seed, "shuffle").
Trajectories shuffle_episodes(const Trajectories& data, std::uint64_t seed);

/// The first `n` episodes; all of them when there are fewer.
Trajectories take_first(const Trajectories& data, std::int64_t n);

/// `n` different random episodes in their present order, from the stream Random(seed, "sample");
/// all of them when there are fewer.
Trajectories sample_episodes(const Trajectories& data, std::int64_t n, std::uint64_t seed);

}  // namespace kindred
