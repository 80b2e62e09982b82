// Single trajectories step by step, with what each policy would have done.
#pragma once

#include <set>

#include "kindred/experiments/findings/behaviour.h"
#include "kindred/experiments/findings/column.h"
#include "kindred/experiments/findings/run_data.h"

namespace kindred::findings {

/// The given episodes, long ones thinned.
Json trajectories(const RunData& found, const Behaviour& behaviour,
                  const std::set<std::int64_t>& episodes);

}  // namespace kindred::findings
