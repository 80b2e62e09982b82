// Single trajectories step by step, with what each policy would have done.
#pragma once

#include <set>

#include "kindred/findings/behaviour.h"
#include "kindred/findings/column.h"
#include "kindred/findings/run_data.h"

namespace kindred::findings {

/// The given episodes, long ones thinned.
Json trajectories(const RunData& found, const Behaviour& behaviour,
                  const std::set<std::int64_t>& episodes);

}  // namespace kindred::findings
