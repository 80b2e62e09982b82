#include "kindred/data/lerobot_extract.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/staged_file.h"
#include "kindred/data/lerobot_folder.h"
#include "kindred/data/parquet_copy.h"
#include "kindred/data/parquet_table.h"
#include "kindred/data/undo.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Numbers = std::vector<std::int64_t>;

constexpr const char* kEpisodeStatistics = "episodes_stats.jsonl";
constexpr const char* kStatistics = "stats.json";

void make_folder_of(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) throw IoError("cannot write '{}': {}", file.string(), error.message());
}

void copy_whole(const fs::path& from, const fs::path& to) {
  make_folder_of(to);
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) throw IoError("cannot copy '{}': {}", from.string(), error.message());
}

std::string spread(const Json& values) { return values.dump(4); }

/// Statistics of a position that moved by `by`: all but how wide and how many.
bool moves(const std::string& statistic) { return statistic != "std" && statistic != "count"; }

/// One value per episode of each statistic, put together as LeRobot does.
class JoinedStatistics {
 public:
  explicit JoinedStatistics(const ParquetTable& table) : table_(table) {}

  /// `old` with the values of the table's episodes; a feature without values by episode is left
  /// out.
  Json of(const Json& old) {
    Json all = Json::object();
    for (const auto& [feature, statistics] : old.items()) {
      if (!statistics.is_object() || !table_.find(column(feature, "mean")) ||
          !table_.find(column(feature, "std")) || !table_.find(column(feature, "count")))
        continue;
      for (const auto& [name, value] : statistics.items())
        if (table_.find(column(feature, name))) {
          all[feature][name] = value;
          const auto numbers = joined(feature, name);
          auto next = numbers.begin();
          fill(all[feature][name], next, numbers.end());
        }
    }
    return all;
  }

 private:
  using Values = std::vector<double>;

  static std::string column(const std::string& feature, const std::string& name) {
    return fmt::format("stats/{}/{}", feature, name);
  }

  std::vector<Values> of_episodes(const std::string& feature, const std::string& name) const {
    const auto size = std::max<std::int64_t>(table_.row_size(column(feature, name)), 1);
    const auto all = table_.read<double>(column(feature, name), 0, table_.rows());
    std::vector<Values> rows;
    for (auto row = all.begin(); row < all.end(); row += size) rows.emplace_back(row, row + size);
    return rows;
  }

  Values joined(const std::string& feature, const std::string& name) const {
    const auto values = of_episodes(feature, name);
    Values result = values[0];
    if (name == "min" || name == "max") {
      for (const auto& its : values)
        for (std::size_t i = 0; i < result.size(); ++i)
          result[i] = name == "min" ? std::min(result[i], its[i]) : std::max(result[i], its[i]);
      return result;
    }
    const auto counts = of_episodes(feature, "count");
    if (name == "count") {
      result[0] = 0;
      for (const auto& its : counts) result[0] += its[0];
      return result;
    }
    if (name == "std") return joined_deviation(feature, values, counts);
    return weighted(values, counts);
  }

  static Values weighted(const std::vector<Values>& values, const std::vector<Values>& counts) {
    Values sum(values[0].size(), 0);
    double total = 0;
    for (std::size_t e = 0; e < values.size(); ++e) {
      total += counts[e][0];
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counts[e][0] * values[e][i];
    }
    for (auto& value : sum) value /= total;
    return sum;
  }

  Values joined_deviation(const std::string& feature, std::vector<Values> deviations,
                          const std::vector<Values>& counts) const {
    const auto means = of_episodes(feature, "mean");
    const auto mean = weighted(means, counts);
    for (std::size_t e = 0; e < means.size(); ++e)
      for (std::size_t i = 0; i < mean.size(); ++i)
        deviations[e][i] =
            deviations[e][i] * deviations[e][i] + (means[e][i] - mean[i]) * (means[e][i] - mean[i]);
    auto result = weighted(deviations, counts);
    for (auto& value : result) value = std::sqrt(value);
    return result;
  }

  /// Puts numbers where numbers were, each of the kind that was there.
  static void fill(Json& shape, Values::const_iterator& next, Values::const_iterator end) {
    if (shape.is_array()) {
      for (auto& inner : shape) fill(inner, next, end);
    } else if (next != end) {
      if (shape.is_boolean())
        shape = *next != 0;
      else if (shape.is_number_integer())
        shape = static_cast<std::int64_t>(*next);
      else
        shape = *next;
      ++next;
    }
  }

  const ParquetTable& table_;
};

/// The copy, file by file. New numbers follow from the order of the chosen episodes.
class LerobotExtract {
 public:
  LerobotExtract(LerobotFolder source, const Trajectories& data,
                 std::span<const std::int64_t> chosen, const fs::path& target)
      : source_(std::move(source)), copy_(source_), data_(data), chosen_(chosen) {
    copy_.root = target;
    for (const auto episode : chosen) {
      first_frames_.push_back(frames_);
      frames_ += data.length(episode);
    }
  }

  void write() {
    if (source_.many_in_a_file) {
      copy_shared_data();
      copy_episode_tables();
    } else {
      copy_own_data();
      copy_episode_lines();
    }
    copy_other_metadata();
    write_info();
  }

 private:
  const LerobotEpisode& episode(std::size_t place) const {
    return source_.episodes[static_cast<std::size_t>(chosen_[place])];
  }

  /// Rows of a data file for the chosen episodes [from, to), all of which it holds.
  void copy_data(const fs::path& file, std::size_t from, std::size_t to, std::int64_t file_begin,
                 const fs::path& target) const {
    const ParquetTable table({file});
    const Numbers old =
        table.find("index") ? table.read<std::int64_t>("index", 0, table.rows()) : Numbers();
    std::vector<RowStretch> rows;
    ColumnShifts shifts;
    for (auto place = from; place < to; ++place) {
      const auto begin = data_.offsets[chosen_[place]] - file_begin;
      const auto end = data_.offsets[chosen_[place] + 1] - file_begin;
      if (!rows.empty() && rows.back().end == begin)
        rows.back().end = end;
      else
        rows.push_back({begin, end});
      const auto number = static_cast<std::int64_t>(place) - episode(place).number;
      for (auto row = begin; row < end; ++row) {
        shifts["episode_index"].push_back(number);
        if (!old.empty())
          shifts["index"].push_back(first_frames_[place] + row - begin -
                                    old[static_cast<std::size_t>(row)]);
      }
    }
    make_folder_of(target);
    copy_parquet_rows(file, rows, shifts, target);
  }

  void copy_own_data() const {
    for (std::size_t place = 0; place < chosen_.size(); ++place) {
      const auto number = static_cast<std::int64_t>(place), old = episode(place).number;
      const auto size = source_.chunk_size();
      copy_data(source_.data_files[episode(place).data_file], place, place + 1,
                data_.offsets[chosen_[place]], copy_.data_path(number / size, number));
      for (const auto& video : source_.features_of("video")) {
        std::error_code ignored;
        const auto file = source_.video_path(video, old / size, old);
        if (fs::exists(file, ignored))
          copy_whole(file, copy_.video_path(video, number / size, number));
      }
    }
  }

  /// Each file keeps its chosen episodes; files without any disappear and the rest move up.
  void copy_shared_data() {
    std::vector<std::int64_t> begins(source_.data_files.size() + 1, 0);
    for (std::size_t i = 0; i < source_.episodes.size(); ++i)
      begins[source_.episodes[i].data_file + 1] = data_.offsets[static_cast<std::int64_t>(i) + 1];
    const auto size = source_.chunk_size();
    std::int64_t number = 0;
    for (std::size_t from = 0, to = 0; from < chosen_.size(); from = to, ++number) {
      const auto file = episode(from).data_file;
      while (to < chosen_.size() && episode(to).data_file == file) ++to;
      copy_data(source_.data_files[file], from, to, begins[file],
                copy_.data_path(number / size, number % size));
      data_file_of_.resize(to, number);
    }
  }

  void copy_episode_tables() {
    const ParquetTable table(source_.episode_files);
    const auto size = source_.chunk_size();
    std::int64_t first_row = 0, number = 0;
    for (const auto& file : source_.episode_files) {
      const auto end = first_row + ParquetTable({file}).rows();
      std::vector<std::size_t> places;
      for (std::size_t place = 0; place < chosen_.size(); ++place)
        if (chosen_[place] >= first_row && chosen_[place] < end) places.push_back(place);
      if (!places.empty()) {
        std::vector<RowStretch> rows;
        for (const auto place : places)
          rows.push_back({chosen_[place] - first_row, chosen_[place] - first_row + 1});
        const auto target =
            copy_.root / "meta" / "episodes" /
            fmt::format("chunk-{:03d}/file-{:03d}.parquet", number / size, number % size);
        make_folder_of(target);
        copy_parquet_rows(file, rows, episode_shifts(table, places, number), target);
        copy_.episode_files[static_cast<std::size_t>(number)] = target;
        ++number;
      }
      first_row = end;
    }
    copy_.episode_files.resize(static_cast<std::size_t>(number));
    copy_shared_videos(table);
    join_statistics();
  }

  /// What leads from the old numbers in the table of episodes to the new ones.
  ColumnShifts episode_shifts(const ParquetTable& table, const std::vector<std::size_t>& places,
                              std::int64_t file) const {
    ColumnShifts shifts;
    const auto size = source_.chunk_size();
    const auto renumber = [&](const std::string& column, auto new_value) {
      if (!table.find(column)) return;
      const auto old = table.read<std::int64_t>(column, 0, table.rows());
      for (const auto place : places)
        shifts[column].push_back(new_value(place) - old[static_cast<std::size_t>(chosen_[place])]);
    };
    const auto first = [&](std::size_t place) { return first_frames_[place]; };
    renumber("episode_index", [](std::size_t place) { return static_cast<std::int64_t>(place); });
    renumber("dataset_from_index", first);
    renumber("dataset_to_index", [&](std::size_t place) {
      return first_frames_[place] + data_.length(chosen_[place]);
    });
    renumber("data/chunk_index", [&](std::size_t place) { return data_file_of_[place] / size; });
    renumber("data/file_index", [&](std::size_t place) { return data_file_of_[place] % size; });
    renumber("meta/episodes/chunk_index", [&](std::size_t) { return file / size; });
    renumber("meta/episodes/file_index", [&](std::size_t) { return file % size; });
    for (const auto& [feature, follows] :
         {std::pair{"index", "dataset_from_index"}, std::pair{"episode_index", "episode_index"}})
      for (const auto& [name, kind, list] : table.columns()) {
        const auto prefix = fmt::format("stats/{}/", feature);
        if (name.starts_with(prefix) && moves(name.substr(prefix.size())) &&
            shifts.contains(follows))
          shifts[name] = shifts[follows];
      }
    return shifts;
  }

  void copy_shared_videos(const ParquetTable& table) const {
    for (const auto& video : source_.features_of("video")) {
      const auto chunk = fmt::format("videos/{}/chunk_index", video);
      const auto file = fmt::format("videos/{}/file_index", video);
      if (!table.find(chunk) || !table.find(file)) continue;
      const auto chunks = table.read<std::int64_t>(chunk, 0, table.rows());
      const auto files = table.read<std::int64_t>(file, 0, table.rows());
      std::set<std::pair<std::int64_t, std::int64_t>> used;
      for (const auto row : chosen_)
        used.emplace(chunks[static_cast<std::size_t>(row)], files[static_cast<std::size_t>(row)]);
      for (const auto& [c, f] : used)
        copy_whole(source_.video_path(video, c, f), copy_.video_path(video, c, f));
    }
  }

  void join_statistics() const {
    std::error_code ignored;
    const auto file = source_.root / "meta" / kStatistics;
    if (!fs::exists(file, ignored)) return;
    const auto old = Json::parse(read_text(file), nullptr, false);
    if (!old.is_object())
      throw DataFormatError("'{}' holds no JSON object, expected statistics", file.string());
    const ParquetTable table(copy_.episode_files);
    write_text(copy_.root / "meta" / kStatistics, spread(JoinedStatistics(table).of(old)));
  }

  void copy_episode_lines() const {
    std::map<std::int64_t, std::int64_t> new_number;
    std::string lines;
    for (std::size_t place = 0; place < chosen_.size(); ++place) {
      auto line = source_.lines[static_cast<std::size_t>(chosen_[place])];
      new_number[episode(place).number] = static_cast<std::int64_t>(place);
      line["episode_index"] = place;
      lines += line.dump() + "\n";
    }
    const auto meta = copy_.root / "meta";
    make_folder_of(meta / kLerobotEpisodeLines);
    write_text(meta / kLerobotEpisodeLines, lines);
    std::error_code ignored;
    const auto statistics = source_.root / "meta" / kEpisodeStatistics;
    if (fs::exists(statistics, ignored))
      write_text(meta / kEpisodeStatistics,
                 renumbered_statistics(read_json_lines(statistics), new_number));
  }

  std::string renumbered_statistics(std::vector<Json> lines,
                                    const std::map<std::int64_t, std::int64_t>& new_number) const {
    std::map<std::int64_t, std::string> kept;
    for (auto& line : lines) {
      const auto number = new_number.find(line.value("episode_index", std::int64_t{-1}));
      if (number == new_number.end()) continue;
      const auto old_first = data_.offsets[chosen_[static_cast<std::size_t>(number->second)]];
      if (line.contains("stats") && line["stats"].is_object()) {
        move_by(line["stats"], "index",
                first_frames_[static_cast<std::size_t>(number->second)] - old_first);
        move_by(line["stats"], "episode_index", number->second - number->first);
      }
      line["episode_index"] = number->second;
      kept[number->second] = line.dump() + "\n";
    }
    std::string text;
    for (const auto& [number, line] : kept) text += line;
    return text;
  }

  static void move_by(Json& statistics, const char* feature, std::int64_t by) {
    if (!statistics.contains(feature) || !statistics[feature].is_object()) return;
    for (auto& [name, values] : statistics[feature].items())
      if (moves(name) && values.is_array())
        for (auto& value : values) {
          if (value.is_number_integer())
            value = value.get<std::int64_t>() + by;
          else if (value.is_number())
            value = value.get<double>() + static_cast<double>(by);
        }
  }

  /// Tasks, and what others put there; statistics of all episodes would be wrong.
  void copy_other_metadata() const {
    const std::set<std::string> ours{"info.json", kStatistics, kLerobotEpisodeLines,
                                     kEpisodeStatistics};
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(source_.root / "meta", error)) {
      const auto name = entry.path().filename().string();
      if (!entry.is_regular_file() || ours.contains(name) ||
          name.find(journal_of("").string()) != std::string::npos)
        continue;
      copy_whole(entry.path(), copy_.root / "meta" / name);
    }
  }

  void write_info() {
    auto& info = copy_.info;
    const auto count = std::ssize(chosen_), size = source_.chunk_size();
    info["total_episodes"] = count;
    info["total_frames"] = frames_;
    if (info.contains("total_chunks")) info["total_chunks"] = (count + size - 1) / size;
    if (info.contains("total_videos"))
      info["total_videos"] = count * std::ssize(source_.features_of("video"));
    if (info.contains("splits")) info["splits"] = {{"train", fmt::format("0:{}", count)}};
    write_text(copy_.info_file(), spread(info));
  }

  LerobotFolder source_, copy_;
  const Trajectories& data_;
  std::span<const std::int64_t> chosen_;
  std::int64_t frames_ = 0;
  Numbers first_frames_;  ///< [chosen]
  Numbers data_file_of_;  ///< [chosen], v3
};

}  // namespace

void extract_lerobot(const fs::path& source, const Trajectories& data,
                     std::span<const std::int64_t> episodes, const fs::path& target) {
  StagedFolder folder(target);
  LerobotExtract(open_lerobot(source), data, episodes, folder.path()).write();
  folder.commit();
}

}  // namespace kindred
