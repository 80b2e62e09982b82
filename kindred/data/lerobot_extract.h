// Stretches of episodes of a LeRobot folder in a new one that LeRobot opens. Internal to extract.h.
#pragma once

#include <filesystem>
#include <span>

#include "kindred/data/select.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Frames and episodes are numbered anew, totals and statistics are those of what is left, tasks
/// stay. Videos of single episodes are copied under their new number; files that episodes share
/// (v3) under their old name, where the episodes' timestamps still fit. What was cut has times that
/// begin with 0 and says what it was in `cut_from` and `first_step`; statistics of its pictures are
/// those of the whole episode. Throws InvalidArgument when a video would have to be cut (v2).
void extract_lerobot(const std::filesystem::path& source, const Trajectories& data,
                     std::span<const Stretch> stretches, const std::filesystem::path& target);

}  // namespace kindred
