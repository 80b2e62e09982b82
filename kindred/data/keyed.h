// Files that are of no known format, read by the names of their arrays; and known ones of which
// other arrays are wanted. Internal.
//
// The arrays are flat, a row for each step, cut by flags (done_keys), by a column of episode ids
// (episode_key) or by NPZ's offsets; or padded, [episodes, time, …], with a mask (mask_key), flags
// of the same shape, or neither; or, in HDF5, in one group for each episode.
#pragma once

#include <filesystem>
#include <string>

#include "kindred/data/formats.h"
#include "kindred/data/named_arrays.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Flat or padded arrays. Throws InvalidArgument when a key names nothing, DataFormatError when
/// arrays do not fit each other.
Trajectories read_keyed(const NamedArrays& arrays, const ReadOptions& options);

/// The same of an HDF5 or NPZ file, or groups of an HDF5 file.
Trajectories read_keyed_file(const std::filesystem::path& path, const ReadOptions& options);

/// What an array is called that is likely to be of use, for people to choose from: a sentence that
/// lists the arrays and proposes options.
std::string propose_keys(const NamedArrays& arrays);

}  // namespace kindred
