// How a method ends when it is asked to stop.
#pragma once

#include <cstdint>

#include "kindred/clustering/clustering.h"
#include "kindred/core/stopwatch.h"
#include "kindred/core/workers.h"

namespace kindred {

/// What fit(rounds) returns, which keeps `rounds` at the number of rounds its checkpoint holds.
/// When it gives up on request, a clustering without a result that says only how many those are.
template <class Fit>
Clustering stoppable(const Fit& fit) {
  const Stopwatch clock;
  std::int64_t rounds = 0;
  try {
    return fit(rounds);
  } catch (const Interrupted&) {
    Clustering nothing;
    nothing.stopped = true;
    nothing.seconds = clock.seconds();
    nothing.timings = {{"rounds", rounds}};
    return nothing;
  }
}

}  // namespace kindred
