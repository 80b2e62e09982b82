// Why a number of policies is too few: trajectories of which each conflicts with each, and graphs
// around them that need a policy more.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/conflicts/behaviours.h"

namespace kindred {

/// Behaviours of which each conflicts with each: each needs a policy of its own. As many as a
/// greedy search from many starts finds.
std::vector<std::int32_t> large_clique(const Behaviours& behaviours);

/// A number of policies that is needed at least, from Mycielski's construction, by which graphs
/// without triangles need any number of colours: it is undone as often as it can be, and each time
/// what is left needs one colour less. 0 where there are too many behaviours to look for it.
std::int32_t mycielski_bound(const Behaviours& behaviours);

}  // namespace kindred
