#include "kindred/data/minari_tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/staged_file.h"
#include "kindred/core/words.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/parquet_copy.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kMinariFoundKeys = "found_by_kindred";
constexpr std::array<std::string_view, 2> kTableFormats{"arrow", "parquet"};

/// The object in a file; an empty one where there is no file.
Json object_in(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return Json::object();
  auto object = parse_python_json(read_text(path));
  if (!object.is_object())
    throw DataFormatError("'{}' holds no JSON object, expected metadata of a Minari dataset",
                          path.string());
  return object;
}

std::optional<std::int64_t> episode_number(const fs::path& folder) {
  const auto name = folder.filename().string();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

/// The one file beside the metadata; Minari writes no more for an episode.
fs::path table_in(const fs::path& folder) {
  std::vector<fs::path> tables;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const auto name = at->path().filename().string();
    if (!name.starts_with('.') && !name.starts_with('_') && !name.starts_with(kMinariMetadata))
      tables.push_back(at->path());
  }
  if (error) throw IoError("cannot read '{}': {}", folder.string(), error.message());
  if (tables.size() != 1)
    throw DataFormatError("'{}' holds {} tables, expected one: the steps of an episode",
                          folder.string(), tables.size());
  return tables[0];
}

/// The metadata of an episode as text, with its label or none.
std::string labelled_metadata(const MinariEpisode& episode, const std::string& key,
                              std::int32_t label) {
  const auto path = episode.metadata_file();
  auto metadata = Json::object();
  if (!episode.metadata.empty()) metadata = Json::parse(read_text(path), nullptr, false);
  if (!metadata.is_object())
    throw DataFormatError("'{}' holds NaN or Infinity, which JSON has not; remove them first",
                          path.string());
  metadata.erase(key);
  if (label != kNoLabel) metadata[key] = label;
  return metadata.dump();
}

std::uintmax_t bytes_below(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->is_regular_file(error)) bytes += at->file_size(error);
  return bytes;
}

/// The rows of a stretch and one more for the observation that came next; in the columns that say
/// nothing of it that row is the last one of the episode, where Minari fills them up.
void cut_table(const fs::path& table, const Trajectories& data, const Stretch& stretch,
               const fs::path& target) {
  const auto [episode, begin, end] = stretch;
  const auto last = data.length(episode);
  const auto rows_of = [&](const std::string& column) -> std::vector<RowStretch> {
    if (column == "observations" || column == "infos") return {{begin, end + 1}};
    return {{begin, end}, {last, last + 1}};
  };
  const auto step = data.offsets[episode] + end - 1;
  const auto old = !data.timeouts.empty() && data.timeouts[step] ? 1 : 0;
  std::vector<std::int64_t> truncated(static_cast<std::size_t>(end - begin + 1));
  truncated[truncated.size() - 2] = timeouts_of(data, {&stretch, 1}).back() - old;
  copy_table_rows(table, rows_of,
                  {.shifts = {{"truncations", truncated}}, .numbers = {}, .texts = {}}, target);
}

void copy_episode(const MinariEpisode& episode, const Trajectories& data, const Stretch& stretch,
                  bool cuts, std::int64_t number, const fs::path& target) {
  std::error_code error;
  fs::create_directory(target, error);
  const auto table = target / episode.table.filename();
  if (!error && is_whole(data, stretch)) fs::copy_file(episode.table, table, error);
  if (error) throw IoError("cannot write '{}': {}", settled(target), error.message());
  auto metadata = episode.metadata;
  metadata["id"] = number;
  if (!is_whole(data, stretch)) {
    cut_table(episode.table, data, stretch, table);
    metadata["total_steps"] = stretch.end - stretch.begin;
  }
  if (cuts) {
    metadata[kCutFrom] = episode.id();
    metadata[kFirstStep] = stretch.begin;
  }
  write_text(target / kMinariMetadata, metadata.dump());
}

}  // namespace

std::string MinariEpisode::id() const { return fmt::format("episode_{}", number); }
fs::path MinariEpisode::metadata_file() const { return folder / kMinariMetadata; }
fs::path MinariTables::metadata_file() const { return data / kMinariMetadata; }

bool MinariTables::found_by_kindred(const std::string& key) const {
  const auto listed = metadata.find(kMinariFoundKeys);
  return listed != metadata.end() && std::ranges::find(*listed, Json(key)) != listed->end();
}

Json parse_python_json(const std::string& text) {
  std::string strict;
  bool inside = false;  // of a string
  for (std::string_view rest = text; !rest.empty();) {
    auto piece = rest.substr(0, inside && rest[0] == '\\' ? 2 : 1);
    if (piece == "\"") inside = !inside;
    for (const std::string_view word : {"Infinity", "NaN"})
      if (!inside && rest.starts_with(word)) piece = word;
    strict += piece.size() > 2 ? "0" : piece;
    rest.remove_prefix(piece.size());
  }
  return Json::parse(strict, nullptr, false);
}

fs::path minari_tables_folder(const fs::path& path) {
  std::error_code ignored;
  for (const auto& data : {path / "data", path}) {
    const auto metadata = data / kMinariMetadata;
    if (!fs::is_regular_file(metadata, ignored)) continue;
    const auto all = parse_python_json(read_text(metadata));
    const auto format = all.is_object() ? all.value("data_format", Json()) : Json();
    if (format.is_string() &&
        std::ranges::find(kTableFormats, format.get<std::string>()) != kTableFormats.end())
      return data;
  }
  return {};
}

MinariTables open_minari_tables(const fs::path& data) {
  MinariTables tables{data, object_in(data / kMinariMetadata), {}};
  std::error_code error;
  for (fs::directory_iterator at(data, error), end; !error && at != end; at.increment(error))
    if (const auto number = episode_number(at->path()); number && at->is_directory())
      tables.episodes.push_back({*number, at->path(), {}, {}});
  if (error) throw IoError("cannot read '{}': {}", data.string(), error.message());
  std::ranges::sort(tables.episodes, {}, &MinariEpisode::number);
  for (auto& episode : tables.episodes) {
    episode.table = table_in(episode.folder);
    episode.metadata = object_in(episode.metadata_file());
  }
  const auto stated = tables.metadata.value("total_episodes", Json());
  if (tables.episodes.empty() ||
      (stated.is_number_integer() && stated != Json(tables.episodes.size())))
    throw DataFormatError(
        "'{}' holds {} folders of episodes, expected {}; the dataset is incomplete", data.string(),
        tables.episodes.size(), stated.is_number_integer() ? stated.dump() : "at least one");
  return tables;
}

FileChanges change_minari_tables(const MinariTables& tables, const Trajectories& data,
                                 const EpisodeLabels& labels, const std::string& key) {
  FileChanges changes;
  const auto change = [&](const fs::path& path, const std::string& text) {
    changes.push_back(
        std::make_unique<FileChange>(path, [&](const fs::path& copy) { write_text(copy, text); }));
  };
  auto found = tables.metadata.value(kMinariFoundKeys, Json::array());
  if (!tables.found_by_kindred(key)) found.push_back(key);
  change(tables.metadata_file(),
         changed_minari_metadata(tables.metadata_file(), {{kMinariFoundKeys, found}}));
  std::map<std::string, std::int32_t> label_of;
  for (std::size_t i = 0; i < labels.labels.size(); ++i) label_of[data.ids[i]] = labels.labels[i];
  for (const auto& episode : tables.episodes) {
    const auto label = label_of.find(episode.id());
    const auto value = label == label_of.end() ? kNoLabel : label->second;
    if (value != kNoLabel || episode.metadata.contains(key))
      change(episode.metadata_file(), labelled_metadata(episode, key, value));
  }
  return changes;
}

void copy_minari_tables(const MinariTables& tables, const Trajectories& data,
                        std::span<const Stretch> stretches, Json values, const fs::path& target) {
  std::map<std::string, const MinariEpisode*> episode_of;
  for (const auto& episode : tables.episodes) episode_of[episode.id()] = &episode;
  const bool cuts =
      std::ranges::any_of(stretches, [&](const auto& one) { return !is_whole(data, one); });
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const auto& id = data.ids[static_cast<std::size_t>(stretches[i].episode)];
    copy_episode(*episode_of.at(id), data, stretches[i], cuts, static_cast<std::int64_t>(i),
                 target / std::to_string(i));
  }
  values["dataset_size"] = minari_dataset_size(bytes_below(target));
  write_text(target / kMinariMetadata, changed_minari_metadata(tables.metadata_file(), values));
}

}  // namespace kindred
