// Returns of episodes for those who compute with them: rewards are read as a file has them, and
// some may be NaN or infinite.
#pragma once

#include <string>
#include <vector>

#include "kindred/data/trajectories.h"

namespace kindred {

/// Sum of rewards of each episode, all of them finite. Throws InvalidArgument that names the first
/// episode whose return is not, and ends with `consequence`, a clause.
std::vector<double> finite_returns(const Trajectories& data, const std::string& consequence);

}  // namespace kindred
