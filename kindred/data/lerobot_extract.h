// Some episodes of a LeRobot folder in a new one that LeRobot opens. Internal to extract.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "kindred/data/trajectories.h"

namespace kindred {

/// Frames and episodes are numbered anew, totals and statistics are those of what is left, tasks
/// stay. Videos of single episodes are copied under their new number; files that episodes share
/// (v3) under their old name, where the episodes' timestamps still fit.
void extract_lerobot(const std::filesystem::path& source, const Trajectories& data,
                     std::span<const std::int64_t> episodes, const std::filesystem::path& target);

}  // namespace kindred
