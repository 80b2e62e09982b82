// NPZ: NumPy's archive of arrays, over all steps as in D4RL.
//
//   observations [steps, …]       floats, integers or booleans; bytes stay bytes
//   actions      [steps] or [steps, dim]
//   rewards, terminals, timeouts  [steps], optional
//   offsets      [episodes + 1]   optional: without it, flags say where episodes end
//   policy_id    [episodes] or [steps], optional: the label (see ReadOptions::label_key); also
//                found as infos/policy_id or labels
//   ids, label_names              text, optional
//   observation_names [dim], action_names [dim]  text, optional
//   oracle       [episodes], action_count, optional
#pragma once

#include <filesystem>

#include "kindred/data/formats.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Whether the content begins as a zip archive does.
bool is_npz(const std::filesystem::path& path);

/// Takes stored and deflated archives, either byte order and either array order; observations are
/// not interned yet. Throws IoError when the file cannot be read; DataFormatError naming file and
/// array, what was expected and what was found, when it does not hold the above.
Trajectories read_npz(const std::filesystem::path& path, const ReadOptions& options);

/// Writes `path`, uncompressed and with offsets; interned observations are expanded. The file
/// appears whole or not at all. Throws IoError.
void write_npz(const Trajectories& data, const std::filesystem::path& path);

}  // namespace kindred
