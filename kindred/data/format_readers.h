// One reader and one writer per format; formats.cpp chooses among them. Internal.
//
// A reader returns checked columns, not yet interned; a writer may assume valid data.
#pragma once

#include <filesystem>

#include "kindred/data/formats.h"
#include "kindred/data/trajectories.h"

namespace kindred {

Trajectories read_d4rl(const std::filesystem::path& path, const ReadOptions& options);
void write_d4rl(const Trajectories& data, const std::filesystem::path& path);

/// `path` is a dataset's folder, its data folder or its main_data.hdf5.
Trajectories read_minari(const std::filesystem::path& path, const ReadOptions& options);
void write_minari(const Trajectories& data, const std::filesystem::path& path);
/// The main_data.hdf5 of a Minari dataset given as a folder; empty when there is none.
std::filesystem::path minari_main_file(const std::filesystem::path& folder);

Trajectories read_robomimic(const std::filesystem::path& path, const ReadOptions& options);
void write_robomimic(const Trajectories& data, const std::filesystem::path& path);

Trajectories read_kindred(const std::filesystem::path& path, const ReadOptions& options);
void write_kindred(const Trajectories& data, const std::filesystem::path& path);
/// The value of the root attribute "format" of a Kindred file.
inline constexpr const char* kKindredFormat = "kindred trajectories";

}  // namespace kindred
