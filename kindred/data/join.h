// Several stores as one: a dataset that comes in several files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kindred/data/trajectories.h"

namespace kindred {

/// All episodes of `parts`, one after the other; observations are dense. Where two have the same id
/// all ids get the name of their part in front. Labels keep their numbers, or are numbered anew by
/// their names; those of a part without any are unknown. Columns over steps that a part does not
/// have are left out. Throws DataFormatError naming the first part whose observations or actions
/// are of another kind or size than the first part's. There are as many `names`, files, as parts.
Trajectories join_episodes(const std::vector<Trajectories>& parts,
                           std::span<const std::string> names);

/// What stands, with a slash behind it, before the ids of each of these files where they need it.
std::vector<std::string> id_prefixes(std::span<const std::string> names);

}  // namespace kindred
