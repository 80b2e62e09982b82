// What episodes and numbers of observations and actions are called: as the file says, else as is
// known of the environment, else by their place.
#pragma once

#include <cstdint>
#include <string>

#include "kindred/data/trajectories.h"
#include "kindred/findings/column.h"

namespace kindred::findings {

std::string observation_name(const Trajectories& data, std::int64_t i);

/// Of number i of an action or, where actions are discrete, of action i.
std::string action_name(const Trajectories& data, std::int64_t i);

/// What episodes are called; null where that is their number.
Json ids_of(const Trajectories& data);

}  // namespace kindred::findings
