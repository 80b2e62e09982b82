// LeRobot: a folder of Parquet files with meta/info.json beside them.
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/episodes.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/lerobot_folder.h"
#include "kindred/data/table_steps.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kEpisodeNumber = "episode_index";

bool is_numeric_feature(const Json& feature) {
  const auto dtype = feature["dtype"].get<std::string>();
  return dtype.starts_with("float") || dtype.starts_with("int") || dtype.starts_with("uint") ||
         dtype == "bool";
}

/// What was asked for, else the state, else everything numeric that was observed.
std::vector<std::string> chosen_observations(const LerobotFolder& folder,
                                             const ReadOptions& options) {
  const auto& features = folder.info["features"];
  std::vector<std::string> numeric, observed;
  for (const auto& [name, feature] : features.items()) {
    if (!is_numeric_feature(feature)) continue;
    numeric.push_back(printable(name));
    if (name.starts_with("observation.")) observed.push_back(name);
  }
  for (const auto& key : options.obs_keys)
    if (!features.contains(key) || !is_numeric_feature(features[key]))
      throw InvalidArgument("unknown observation key '{}': the numeric features of '{}' are {}",
                            key, folder.root.string(), fmt::join(numeric, ", "));
  if (!options.obs_keys.empty()) return options.obs_keys;
  if (features.contains("observation.state")) return {"observation.state"};
  if (observed.empty())
    throw DataFormatError(
        "'{}' has no feature 'observation.state', expected observations; choose others with "
        "--obs-key; the numeric features are {}",
        folder.info_file().string(), fmt::join(numeric, ", "));
  return observed;
}

/// The words anywhere inside; LeRobot has lists and, by motor group, objects of lists.
void collect_words(const Json& names, std::vector<std::string>& words) {
  if (names.is_string())
    words.push_back(printable(names.get<std::string>()));
  else if (names.is_structured())
    for (const auto& inner : names) collect_words(inner, words);
}

/// What the numbers of these features are called; empty when nobody named any.
std::vector<std::string> names_of(const LerobotFolder& folder, const ParquetTable& table,
                                  const std::vector<std::string>& features) {
  std::vector<std::string> all;
  bool named = false;
  for (const auto& feature : features) {
    const auto size = static_cast<std::size_t>(table.row_size(feature));
    std::vector<std::string> words;
    const auto& description = folder.info["features"][feature];
    if (description.contains("names")) collect_words(description["names"], words);
    const bool fits = words.size() == size;
    named = named || fits;
    for (std::size_t i = 0; i < size; ++i)
      all.push_back(!fits                 ? fmt::format("{}[{}]", feature, i)
                    : features.size() > 1 ? fmt::format("{}.{}", feature, words[i])
                                          : words[i]);
  }
  return named ? all : std::vector<std::string>();
}

/// The episodes of the data are those that the metadata tell of, in the same order.
void check_episodes(const LerobotFolder& folder, const ParquetTable& table,
                    const Trajectories& data) {
  const auto stated = folder.info.value("total_frames", table.rows());
  if (stated != table.rows())
    throw DataFormatError(
        "'{}' says total_frames is {}, but the data have {} rows; the dataset is "
        "incomplete",
        folder.info_file().string(), stated, table.rows());
  const auto count = std::min<std::size_t>(folder.episodes.size(), data.ids.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& episode = folder.episodes[i];
    const auto length = data.length(static_cast<std::int64_t>(i));
    if (data.ids[i] != std::to_string(episode.number) || length != episode.length)
      throw DataFormatError(
          "the data of '{}' have episode {} with {} steps where '{}' tells of episode {} with {}",
          folder.root.string(), printable(data.ids[i]), length, folder.episode_files[0].string(),
          episode.number, episode.length);
  }
  if (folder.episodes.size() != data.ids.size())
    throw DataFormatError("the data of '{}' have {} episodes, but '{}' tells of {}",
                          folder.root.string(), data.ids.size(), folder.episode_files[0].string(),
                          folder.episodes.size());
}

/// Where somebody wrote down who made each episode: in the metadata, or in the data.
void read_labels(Trajectories& data, const LerobotFolder& folder, const ParquetTable& table,
                 const std::string& key) {
  if (found_by_kindred(folder.info, key)) {
    data.provenance["labels"] = kFoundLabels;
    return;
  }
  std::vector<std::int64_t> labels;
  if (folder.many_in_a_file) {
    const ParquetTable episodes(folder.episode_files);
    const auto* column = episodes.find(key);
    if (column && column->kind == ParquetKind::kInteger && episodes.row_size(key) == 1)
      labels = episodes.read<std::int64_t>(key, 0, episodes.rows());
  }
  for (const auto& line : folder.lines)
    if (const auto at = line.find(key); at != line.end() && at->is_number_integer())
      labels.push_back(at->get<std::int64_t>());
  if (labels.size() == folder.episodes.size())
    set_labels(data, labels);
  else
    set_labels_from(data, table, key);
}

void describe_source(Trajectories& data, const LerobotFolder& folder) {
  for (const char* key : {"codebase_version", "robot_type", "fps"})
    if (folder.info.contains(key) && folder.info[key].is_primitive())
      data.provenance[key] = folder.info[key];
  std::set<std::string> tasks;
  for (const auto& episode : folder.episodes)
    if (!episode.tasks.empty()) tasks.insert(printable(episode.tasks));
  if (!tasks.empty()) data.provenance["tasks"] = tasks;
}

}  // namespace

Trajectories read_lerobot(const fs::path& path, const ReadOptions& options) {
  const auto folder = open_lerobot(path);
  const ParquetTable table(folder.data_files);
  TableLayout layout{.observations = chosen_observations(folder, options),
                     .actions = "action",
                     .rewards = first_column(table, {"next.reward"}),
                     .terminals = first_column(table, {"next.done", "next.success"}),
                     .timeouts = first_column(table, {"next.truncated"}),
                     .episodes = kEpisodeNumber};
  if (!table.find(kEpisodeNumber))
    throw DataFormatError("{} is missing, expected the number of each row's episode",
                          table.where(0, kEpisodeNumber));
  Trajectories data = read_table_steps(table, layout, options);
  check_episodes(folder, table, data);
  data.observation_names = names_of(folder, table, layout.observations);
  if (!data.actions.is_discrete()) data.action_names = names_of(folder, table, {layout.actions});
  read_labels(data, folder, table, options.label_key);
  describe_source(data, folder);
  return data;
}

}  // namespace kindred
