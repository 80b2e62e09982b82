// Stretches of episodes of a Parquet table, or of a folder of them, in a new one. Internal to
// extract.h.
#pragma once

#include <filesystem>
#include <span>

#include "kindred/data/formats.h"
#include "kindred/data/select.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// The files that have rows left, under their names. Whole episodes stay as they are. Where some
/// are cut, episodes are numbered anew, or called "12@340" where they have names; cuts are marked
/// in a column of timeouts; `frame_index` and `timestamp` that begin with 0 in an episode do so in
/// its parts, and `index` that numbers all rows numbers those left. A table with nothing but flags
/// for the end of a task gets a column `episode_index`.
void extract_parquet(const std::filesystem::path& source, const Trajectories& data,
                     std::span<const Stretch> stretches, const ReadOptions& reading,
                     const std::filesystem::path& target);

}  // namespace kindred
