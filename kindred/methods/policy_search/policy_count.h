// How many policies an answer shows, and why that may be doubted.
#pragma once

#include "kindred/methods/policy_search/proposals.h"

namespace kindred::policy_search {

/// Of the chosen one of the proposals, whose conflicts were looked for.
PolicyCount count_policies(const Proposals& sight, std::size_t chosen, const Rules& rules);

/// Whether episodes have been in like states and hardly acted more differently from one another
/// than from themselves.
bool act_alike(const EpisodeEffect& episodes, const Rules& rules);

}  // namespace kindred::policy_search
