// A Minari dataset that is stored as tables of Arrow or Parquet instead of one HDF5 file. Internal.
//
//   data/metadata.json      the spaces, the totals, and data_format
//   data/12/part-0.arrow    a row for each step of episode 12, and one for its last observation
//   data/12/metadata.json   what else is known of the episode
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/label_writer.h"
#include "kindred/data/select.h"
#include "kindred/data/trajectories.h"
#include "kindred/data/undo.h"

namespace kindred {

struct MinariEpisode {
  std::int64_t number = 0;
  std::filesystem::path folder;
  std::filesystem::path table;
  nlohmann::ordered_json metadata;  ///< An object, maybe empty.

  std::string id() const;  ///< As in the HDF5 form: "episode_12".
  std::filesystem::path metadata_file() const;
};

struct MinariTables {
  std::filesystem::path data;  ///< The folder with the metadata and the episodes.
  nlohmann::ordered_json metadata;
  std::vector<MinariEpisode> episodes;  ///< In the order of their numbers.

  std::filesystem::path metadata_file() const;
  /// Whether the metadata say that the labels called `key` were found by Kindred.
  bool found_by_kindred(const std::string& key) const;
};

/// The folder `data` of a dataset that is stored so and given as that or as the folder around it;
/// empty when it is something else.
std::filesystem::path minari_tables_folder(const std::filesystem::path& path);

/// Looks at the folders and reads the metadata. Throws IoError or DataFormatError.
MinariTables open_minari_tables(const std::filesystem::path& data);

/// The changes that write each label into the metadata of its episode, in the order in which to
/// commit them: first what marks the key as found by Kindred.
FileChanges change_minari_tables(const MinariTables& tables, const Trajectories& data,
                                 const EpisodeLabels& labels, const std::string& key);

/// Copies these stretches of episodes, numbered anew, into the folder `target`, and the metadata
/// with `values` and the new size set. One that was cut ends with a truncation and the observation
/// that came next.
void copy_minari_tables(const MinariTables& tables, const Trajectories& data,
                        std::span<const Stretch> stretches, nlohmann::ordered_json values,
                        const std::filesystem::path& target);

Trajectories read_minari_tables(const MinariTables& tables, const ReadOptions& options);

/// JSON as Python writes it, where Infinity and NaN, which JSON has not, become 0. Discarded when
/// it is none.
nlohmann::ordered_json parse_python_json(const std::string& text);

/// The space that the metadata of a dataset tell of under this key, as Minari describes it.
nlohmann::ordered_json minari_space(const nlohmann::ordered_json& metadata, const char* key);

/// Also counts discrete actions that were never taken, where the metadata tell of them.
void state_minari_actions(Trajectories& data, const nlohmann::ordered_json& metadata);

}  // namespace kindred
