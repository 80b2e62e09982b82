// One reader and one writer per format; formats.cpp chooses among them. Internal.
//
// A reader returns checked columns, not yet interned; a writer may assume valid data.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kindred/core/staged_file.h"
#include "kindred/data/formats.h"
#include "kindred/data/trajectories.h"

namespace kindred {

Trajectories read_d4rl(const std::filesystem::path& path, const ReadOptions& options);
void write_d4rl(const Trajectories& data, const std::filesystem::path& path);

/// `path` is a dataset's folder, its data folder or its main_data.hdf5.
Trajectories read_minari(const std::filesystem::path& path, const ReadOptions& options);
void write_minari(const Trajectories& data, const std::filesystem::path& path);
inline constexpr const char* kMinariMainFile = "main_data.hdf5";
inline constexpr const char* kMinariMetadata = "metadata.json";
/// The main_data.hdf5 of a Minari dataset given as a folder; empty when there is none.
std::filesystem::path minari_main_file(const std::filesystem::path& folder);
/// The name of `folder` in the letters Minari allows.
std::string minari_dataset_name(const std::filesystem::path& folder);
/// Makes the folder for files in a new dataset. Throws IoError.
std::filesystem::path minari_data_folder(const StagedFolder& dataset);
/// The metadata in the file `path` with these values set and all else as it is. Throws
/// DataFormatError when it holds no metadata.
std::string changed_minari_metadata(const std::filesystem::path& path,
                                    const nlohmann::ordered_json& values);
/// What Minari calls the size of a dataset: megabytes with one decimal.
double minari_dataset_size(std::uintmax_t bytes);

Trajectories read_robomimic(const std::filesystem::path& path, const ReadOptions& options);
void write_robomimic(const Trajectories& data, const std::filesystem::path& path);

Trajectories read_kindred(const std::filesystem::path& path, const ReadOptions& options);
void write_kindred(const Trajectories& data, const std::filesystem::path& path,
                   const std::function<void(double)>& progress = {});
/// Masks of robomimic demos are `mask/policy_0`, `mask/policy_1`, … where they are labels.
inline constexpr const char* kMaskPrefix = "policy_";

/// `path` is the folder that holds meta/info.json. Kindred writes no such dataset, but extracts
/// parts of one (extract.h).
Trajectories read_lerobot(const std::filesystem::path& path, const ReadOptions& options);

/// `path` is a Parquet file, or a folder with such files at any depth.
Trajectories read_parquet(const std::filesystem::path& path, const ReadOptions& options);
/// The options with every column named that nobody named and that has a usual name.
ReadOptions parquet_columns(const std::filesystem::path& path, ReadOptions options);
/// Whether it is one of these, by its content.
bool is_parquet(const std::filesystem::path& path);
/// The file itself, or the Parquet files in a folder in the order of their names; maybe none.
std::vector<std::filesystem::path> parquet_files(const std::filesystem::path& path);

/// The root attribute that says the labels at `place` were found by Kindred: they are not the
/// truth, and readers do not take them as such.
inline std::string found_mark(const std::string& place) { return "found by kindred: " + place; }
/// What the provenance says of them.
inline constexpr const char* kFoundLabels = "ignored: found by Kindred, not the truth";

/// The value of the root attribute "format" of a Kindred file.
inline constexpr const char* kKindredFormat = "kindred trajectories";

}  // namespace kindred
