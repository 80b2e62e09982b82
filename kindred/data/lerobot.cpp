// LeRobot: a folder of Parquet files with meta/info.json beside them.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/array_keys.h"
#include "kindred/data/episodes.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/keyed.h"
#include "kindred/data/lerobot_folder.h"
#include "kindred/data/parquet_table.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kEpisodeNumber = "episode_index";
constexpr const char* kAction = "action";

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
    if (const auto name = parse_array_key(key).name;
        !features.contains(name) || !is_numeric_feature(features[name]))
      throw InvalidArgument("unknown observation key '{}': the numeric features of '{}' are {}",
                            name, folder.root.string(), fmt::join(numeric, ", "));
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

/// What the numbers of each feature are called, by the info; where several features are observed,
/// with the feature's name in front.
std::map<std::string, std::vector<std::string>> names_of_features(
    const LerobotFolder& folder, const std::vector<std::string>& observed) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [feature, description] : folder.info["features"].items()) {
    if (!description.contains("names")) continue;
    auto& words = names[feature];
    collect_words(description["names"], words);
    const bool one_of_several = observed.size() > 1 && feature != kAction;
    for (auto& word : words)
      if (one_of_several) word = fmt::format("{}.{}", feature, word);
  }
  return names;
}

/// The episodes of the data are those that the metadata tell of, in the same order.
void check_episodes(const LerobotFolder& folder, const Trajectories& data) {
  const auto stated = folder.info.value("total_frames", data.steps());
  if (stated != data.steps())
    throw DataFormatError(
        "'{}' says total_frames is {}, but the data have {} rows; the dataset is "
        "incomplete",
        folder.info_file().string(), stated, data.steps());
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

/// What the metadata say of who made each episode; nothing where they do not, for every one.
FoundLabels labels_in_metadata(const LerobotFolder& folder, const std::string& key) {
  FoundLabels found;
  if (folder.many_in_a_file) {
    const auto episodes = open_parquet_table(folder.episode_files);
    const auto* column = episodes->find(key);
    if (!column || episodes->row_size(key) != 1) return {};
    if (column->kind == ParquetKind::kInteger)
      for (const auto number : episodes->read<std::int64_t>(key, 0, episodes->rows()))
        found.numbers.push_back(number);
    else if (column->kind == ParquetKind::kText)
      found.texts = episodes->read_texts(key, 0, episodes->rows());
  }
  for (const auto& line : folder.lines)
    if (const auto at = line.find(key); at != line.end()) {
      if (at->is_number_integer()) found.numbers.push_back(at->get<std::int64_t>());
      if (at->is_string()) found.texts.push_back(printable(at->get<std::string>()));
    }
  return found.size() == std::ssize(folder.episodes) ? found : FoundLabels{};
}

/// The columns LeRobot means, where nobody named others.
ReadOptions with_usual_columns(const NamedArrays& table, const std::vector<std::string>& observed,
                               ReadOptions options) {
  options.obs_keys = observed;
  if (options.action_keys.empty()) options.action_keys = {kAction};
  if (options.reward_key.empty() && table.find("next.reward")) options.reward_key = "next.reward";
  if (options.done_keys.empty())
    for (const char* flag : {"next.done", "next.success"})
      if (options.done_keys.empty() && table.find(flag)) options.done_keys = {flag};
  options.episode_key = kEpisodeNumber;
  return options;
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
  const auto observed = chosen_observations(folder, options);
  const auto table =
      open_parquet_arrays(path, folder.data_files, names_of_features(folder, observed));
  auto named = with_usual_columns(*table, observed, options);
  const auto labels = labels_in_metadata(folder, options.label_key);
  const bool found = found_by_kindred(folder.info, options.label_key);
  if (found || labels.size() > 0)
    named.label_key = ReadOptions{}.label_key;  // not asked of the data
  Trajectories data = read_keyed(*table, named);
  check_episodes(folder, data);
  if (found || labels.size() > 0) {
    data.labels = {};
    data.label_names = {};
  }
  if (found)
    data.provenance["labels"] = kFoundLabels;
  else if (labels.size() > 0)
    set_labels(data, labels, fmt::format("'{}'", folder.root.string()));
  describe_source(data, folder);
  return data;
}

}  // namespace kindred
