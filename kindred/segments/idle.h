// Stretches in which nothing happens: neither observation nor action changes.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/data/trajectories.h"

namespace kindred {

struct IdleStretch {
  std::int64_t episode = 0;
  std::int64_t begin = 0;  ///< Its first step, from 0 in the episode.
  std::int64_t end = 0;    ///< The step after its last one.
};

/// Stretches of at least `least` steps, in order. A number that changes by less than a thousandth
/// of its deviation over the data has not changed.
std::vector<IdleStretch> idle_stretches(const Trajectories& data, std::int64_t least = 20);

}  // namespace kindred
