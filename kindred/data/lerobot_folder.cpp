#include "kindred/data/lerobot_folder.h"

#include <fmt/args.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <system_error>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/words.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/parquet_table.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::int64_t kUsualChunk = 1000;
constexpr const char* kFoundKeys = "found_by_kindred";

[[noreturn]] void refuse_info(const fs::path& info, const std::string& problem) {
  throw DataFormatError("'{}' {}, expected the description of a LeRobot dataset", info.string(),
                        problem);
}

Json read_info(const fs::path& path) {
  auto info = Json::parse(read_text(path), nullptr, false);
  if (!info.is_object()) refuse_info(path, "holds no JSON object");
  for (const char* key : {"codebase_version", "data_path"})
    if (!info.contains(key) || !info[key].is_string())
      refuse_info(path, fmt::format("has no text '{}'", key));
  if (!info.contains("features") || !info["features"].is_object())
    refuse_info(path, "has no object 'features'");
  for (const auto& [name, feature] : info["features"].items())
    if (!feature.is_object() || !feature.contains("dtype") || !feature["dtype"].is_string())
      refuse_info(path, fmt::format("has no dtype for feature '{}'", printable(name)));
  return info;
}

/// A whole number of the info, or `otherwise`.
std::int64_t number_in(const Json& object, const char* key, std::int64_t otherwise) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<std::int64_t>() : otherwise;
}

void check_total(const LerobotFolder& folder, const char* key, std::int64_t found,
                 const std::string& where) {
  const auto stated = number_in(folder.info, key, found);
  if (stated != found)
    throw DataFormatError("'{}' says {} is {}, but {} has {}; the dataset is incomplete",
                          folder.info_file().string(), key, stated, where, found);
}

std::vector<std::int64_t> whole_column(const ParquetTable& table, const std::string& name) {
  if (!table.find(name))
    throw DataFormatError("{} is missing, expected it in the episodes of a LeRobot dataset",
                          table.where(0, name));
  if (table.row_size(name) != 1)
    throw DataFormatError("{} holds lists, expected one number per episode", table.where(0, name));
  return table.read<std::int64_t>(name, 0, table.rows());
}

void open_shared_files(LerobotFolder& folder) {
  const auto below = folder.root / "meta" / "episodes";
  folder.episode_files = parquet_files(below);
  if (folder.episode_files.empty() || !fs::is_directory(below))
    throw IoError("'{}' has no Parquet files, expected chunk-000/file-000.parquet, …",
                  below.string());
  const auto table = open_parquet_table(folder.episode_files);
  const auto numbers = whole_column(*table, "episode_index");
  const auto lengths = whole_column(*table, "length");
  const auto chunks = whole_column(*table, "data/chunk_index");
  const auto files = whole_column(*table, "data/file_index");
  const auto tasks = table->find("tasks") ? table->read_texts("tasks", 0, table->rows())
                                          : std::vector<std::string>(numbers.size());
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> file_number;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    file_number.try_emplace({chunks[i], files[i]}, 0);
  for (auto& [place, number] : file_number) {
    number = folder.data_files.size();
    folder.data_files.push_back(folder.data_path(place.first, place.second));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i)
    folder.episodes.push_back(
        {numbers[i], lengths[i], tasks[i], file_number[{chunks[i], files[i]}]});
}

std::string words_in(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string words;
  if (value.is_array())
    for (const auto& item : value)
      if (item.is_string()) words += (words.empty() ? "" : ", ") + item.get<std::string>();
  return words;
}

void open_own_files(LerobotFolder& folder) {
  folder.episode_files = {folder.root / "meta" / kLerobotEpisodeLines};
  folder.lines = read_json_lines(folder.episode_files[0]);
  for (std::size_t i = 0; i < folder.lines.size(); ++i) {
    const auto& line = folder.lines[i];
    const auto number = number_in(line, "episode_index", -1),
               length = number_in(line, "length", -1);
    if (number < 0 || length < 1)
      throw DataFormatError(
          "'{}' line {} has no episode_index and length, expected those of an "
          "episode",
          folder.episode_files[0].string(), i + 1);
    folder.episodes.push_back({number, length,
                               line.contains("tasks") ? words_in(line["tasks"]) : "",
                               folder.data_files.size()});
    folder.data_files.push_back(folder.data_path(number / folder.chunk_size(), number));
  }
}

}  // namespace

std::int64_t LerobotFolder::chunk_size() const {
  return std::max<std::int64_t>(number_in(info, "chunks_size", kUsualChunk), 1);
}

std::vector<std::string> LerobotFolder::features_of(const std::string& dtype) const {
  std::vector<std::string> names;
  for (const auto& [name, feature] : info["features"].items())
    if (feature["dtype"] == dtype) names.push_back(name);
  return names;
}

fs::path LerobotFolder::data_path(std::int64_t chunk, std::int64_t number) const {
  return expanded_path(root, info["data_path"],
                       {{"chunk_index", chunk},
                        {"file_index", number},
                        {"episode_chunk", chunk},
                        {"episode_index", number}});
}

fs::path LerobotFolder::video_path(const std::string& video, std::int64_t chunk,
                                   std::int64_t number) const {
  if (!info.contains("video_path") || !info["video_path"].is_string())
    refuse_info(info_file(), "has videos but no text 'video_path'");
  return expanded_path(root, info["video_path"],
                       {{"video_key", video},
                        {"chunk_index", chunk},
                        {"file_index", number},
                        {"episode_chunk", chunk},
                        {"episode_index", number}});
}

bool is_lerobot_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "meta" / "info.json", ignored);
}

LerobotFolder open_lerobot(const fs::path& path) {
  LerobotFolder folder;
  folder.root = path.filename().empty() ? path.parent_path() : path;
  folder.info = read_info(folder.info_file());
  const auto version = folder.info["codebase_version"].get<std::string>();
  if (!version.starts_with("v3.") && !version.starts_with("v2."))
    throw DataFormatError(
        "'{}' says codebase_version is '{}', expected v2.x or v3.x; convert it with LeRobot's own "
        "scripts first",
        folder.info_file().string(), printable(version));
  folder.many_in_a_file = version.starts_with("v3.");
  if (folder.many_in_a_file)
    open_shared_files(folder);
  else
    open_own_files(folder);
  if (folder.episodes.empty())
    throw DataFormatError("'{}' names no episode", folder.episode_files[0].string());
  check_total(folder, "total_episodes", std::ssize(folder.episodes),
              fmt::format("'{}'", folder.episode_files[0].string()));
  return folder;
}

std::vector<Json> read_json_lines(const fs::path& path) {
  std::istringstream text(read_text(path));
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(Json::parse(line, nullptr, false));
    if (!lines.back().is_object())
      throw DataFormatError("'{}' line {} is no JSON object, expected one per line", path.string(),
                            lines.size());
  }
  return lines;
}

fs::path expanded_path(const fs::path& root, const std::string& pattern,
                       const nlohmann::json& values) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  std::vector<std::string> names;  // the store keeps references to them
  names.reserve(values.size());
  for (const auto& [name, value] : values.items()) {
    names.push_back(name);
    if (value.is_string())
      arguments.push_back(fmt::arg(names.back().c_str(), value.get<std::string>()));
    else
      arguments.push_back(fmt::arg(names.back().c_str(), value.get<std::int64_t>()));
  }
  const auto digits = [run = 0](char c) mutable {
    return (run = std::isdigit(c) ? run + 1 : 0) > 2;
  };
  try {
    if (std::ranges::none_of(pattern, digits)) {  // a width of millions would fill the memory
      const fs::path below = fmt::vformat(pattern, arguments);
      if (below.is_relative() && !below.empty() &&
          std::ranges::find(below, fs::path("..")) == below.end())
        return root / below;
    }
  } catch (const fmt::format_error&) {  // the same sentence for all of them
  }
  throw DataFormatError(
      "'{}' has the path '{}', expected one inside the folder, such as "
      "data/chunk-{{chunk_index:03d}}/file-{{file_index:03d}}.parquet",
      (root / "meta" / "info.json").string(), printable(pattern));
}

bool found_by_kindred(const Json& info, const std::string& key) {
  const auto& features = info["features"];
  if (features.contains(key)) return features[key].value("found_by", Json()) == "kindred";
  const auto listed = info.find(kFoundKeys);
  return listed != info.end() && std::ranges::find(*listed, Json(key)) != listed->end();
}

void mark_as_found(LerobotFolder& folder, const std::string& key) {
  if (folder.many_in_a_file)
    folder.info["features"][key] = {
        {"dtype", "int64"}, {"shape", {1}}, {"names", nullptr}, {"found_by", "kindred"}};
  else if (!found_by_kindred(folder.info, key))
    folder.info[kFoundKeys].push_back(key);
}

}  // namespace kindred
