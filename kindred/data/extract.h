// A new dataset with some episodes of another, or stretches of them, in the same format and with
// nothing lost.
//
// D4RL, Minari and robomimic files are copied as HDF5, so that columns, attributes and metadata
// Kindred does not read come along: D4RL keeps the rows of every column over steps, `infos/*`
// included; Minari renumbers its episodes, as it must, and states the new totals, also where each
// is a folder with a table; robomimic keeps the names of its demos, and in its masks those that are
// left. LeRobot folders number episodes and frames anew and state the new totals; Parquet tables
// keep the episodes' rows. Kindred and NPZ files keep what Trajectories hold; so do HDF5 files of
// no format, in D4RL's layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "kindred/data/formats.h"
#include "kindred/data/select.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Writes at `target`, where nothing may be yet, the given episodes of the dataset at `source`, of
/// which `data` is all that its reader finds. The numbers increase. The new dataset (Minari
/// and LeRobot: a folder) appears whole or not at all. Throws InvalidArgument, IoError or
/// DataFormatError.
void extract_episodes(const std::filesystem::path& source, Format format, const Trajectories& data,
                      std::span<const std::int64_t> episodes, const std::filesystem::path& target);

/// The same with stretches of episodes as episodes of their own, in the order of the data and
/// without overlap; `reading` is how the data was read. Those that were cut end with a timeout, in
/// Minari with a truncation and the observation that came next, so that nothing learns that the
/// task ended there. Where some are cut, all are numbered anew, and Minari, robomimic and LeRobot
/// say what each was cut from. Throws InvalidArgument for LeRobot folders with a video for each
/// episode (v2), which cannot be cut, and for Parquet tables with a row for each episode.
void extract_stretches(const std::filesystem::path& source, Format format, const Trajectories& data,
                       std::span<const Stretch> stretches, const std::filesystem::path& target,
                       const ReadOptions& reading = {});

}  // namespace kindred
