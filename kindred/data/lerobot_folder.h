// The files of a LeRobot dataset and what its metadata say of them. Internal.
//
//   v3    data/chunk-000/file-000.parquet: many episodes in a file;
//         meta/episodes/chunk-000/file-000.parquet: a row per episode; videos shared likewise
//   v2    data/chunk-000/episode_000000.parquet: a file per episode;
//         meta/episodes.jsonl: a line per episode; a video per episode
//
// Names of files come from the templates in meta/info.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kindred {

struct LerobotEpisode {
  std::int64_t number = 0;  ///< Its episode_index.
  std::int64_t length = 0;
  std::string tasks;
  std::size_t data_file = 0;  ///< In LerobotFolder::data_files.
};

struct LerobotFolder {
  std::filesystem::path root;
  nlohmann::ordered_json info;
  bool many_in_a_file = true;                        ///< v3
  std::vector<LerobotEpisode> episodes;              ///< In the order of the rows of the data.
  std::vector<std::filesystem::path> data_files;     ///< With the root in front.
  std::vector<std::filesystem::path> episode_files;  ///< Parquet, or one file of JSON lines.
  std::vector<nlohmann::ordered_json> lines;         ///< v2: [episodes], what that file holds.

  std::filesystem::path info_file() const { return root / "meta" / "info.json"; }
  std::int64_t chunk_size() const;
  /// The names of the features with this dtype.
  std::vector<std::string> features_of(const std::string& dtype) const;
  /// The file that a template of the info names for these numbers. Throws DataFormatError when the
  /// template is missing, names something else or leads out of the folder.
  std::filesystem::path data_path(std::int64_t chunk, std::int64_t number) const;
  std::filesystem::path video_path(const std::string& video, std::int64_t chunk,
                                   std::int64_t number) const;
};

inline constexpr const char* kLerobotEpisodeLines = "episodes.jsonl";

/// Whether a folder holds meta/info.json.
bool is_lerobot_folder(const std::filesystem::path& folder);

/// Reads the metadata. Throws IoError when a file is missing, DataFormatError when one does not say
/// what it should or they contradict each other.
LerobotFolder open_lerobot(const std::filesystem::path& folder);

/// The lines of a file of JSON lines. Throws IoError, or DataFormatError with the line.
std::vector<nlohmann::ordered_json> read_json_lines(const std::filesystem::path& path);

/// The file at `template` below `root`. `values` are the numbers and words it may name.
std::filesystem::path expanded_path(const std::filesystem::path& root, const std::string& pattern,
                                    const nlohmann::json& values);

/// Whether the info says that the labels called `key` were found by Kindred; and how it says so:
/// v3 has a feature of that name, which tells; v2 a list.
bool found_by_kindred(const nlohmann::ordered_json& info, const std::string& key);
void mark_as_found(LerobotFolder& folder, const std::string& key);

}  // namespace kindred
