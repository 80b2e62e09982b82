// What episodes, true policies and numbers of observations and actions are called: as the file
// says, else as is known of the environment, else by their place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/trajectories.h"
#include "kindred/findings/column.h"

namespace kindred::findings {

std::string observation_name(const Trajectories& data, std::int64_t i);

/// Of number i of an action or, where actions are discrete, of action i.
std::string action_name(const Trajectories& data, std::int64_t i);

/// What episodes are called; null where that is their number.
Json ids_of(const Trajectories& data);

/// The true policy of each episode or step (-1: unknown), numbered without gaps since the page
/// counts by these numbers, and what each is called.
struct Truth {
  std::vector<std::int32_t> labels;
  std::vector<std::string> names;
};

Truth numbered_truth(std::span<const std::int32_t> labels, const std::vector<std::string>& names);

}  // namespace kindred::findings
