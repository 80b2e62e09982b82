#include "kindred/data/lerobot_extract.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/staged_file.h"
#include "kindred/data/lerobot_folder.h"
#include "kindred/data/lerobot_statistics.h"
#include "kindred/data/parquet_append.h"
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
  if (error) throw IoError("cannot write '{}': {}", settled(file), error.message());
}

void copy_whole(const fs::path& from, const fs::path& to) {
  make_folder_of(to);
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error) throw IoError("cannot copy '{}': {}", from.string(), error.message());
}

std::string spread(const Json& values) { return values.dump(4); }

/// When frames of an episode were taken, in seconds from its first, as its timestamps say.
class EpisodeClock {
 public:
  /// `seconds` are the timestamps of the episode's first frames; maybe none.
  EpisodeClock(std::span<const double> seconds, double fps) : seconds_(seconds), fps_(fps) {
    for (std::size_t i = 0; i < seconds.size(); ++i)
      regular_ = regular_ && static_cast<float>(seconds[i]) == static_cast<float>(by_number(i));
  }

  double at(std::int64_t frame) const {
    const auto i = static_cast<std::size_t>(frame);
    return regular_ || i >= seconds_.size() ? by_number(i) : seconds_[i];
  }

  /// Between two frames; exact where timestamps follow from the frames' numbers, which rounding to
  /// the 32 bits they have hides in long episodes.
  double between(std::int64_t begin, std::int64_t end) const {
    return regular_ ? by_number(static_cast<std::size_t>(end - begin)) : at(end) - at(begin);
  }

 private:
  double by_number(std::size_t frame) const { return static_cast<double>(frame) / fps_; }

  std::span<const double> seconds_;
  double fps_;
  bool regular_ = true;
};

/// The copy, file by file. New numbers follow from the order of the chosen stretches.
class LerobotExtract {
 public:
  LerobotExtract(LerobotFolder source, const Trajectories& data, std::span<const Stretch> chosen,
                 const fs::path& target)
      : source_(std::move(source)),
        copy_(source_),
        data_(data),
        chosen_(chosen),
        cuts_(std::ranges::any_of(chosen, [&](const auto& one) { return !is_whole(data, one); })),
        times_(chosen.size()),
        measured_(chosen.size()) {
    copy_.root = target;
    for (const auto& one : chosen) {
      first_frames_.push_back(frames_);
      frames_ += one.end - one.begin;
    }
    if (cuts_ && !source_.many_in_a_file && !source_.features_of("video").empty())
      throw InvalidArgument(
          "'{}' is a LeRobot folder of version 2 with a video for each episode, which cannot be "
          "cut without encoding it anew; convert the folder to version 3.0 with LeRobot's "
          "convert_dataset_v21_to_v30 first, and find the segments there",
          source_.root.string());
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
    return source_.episodes[static_cast<std::size_t>(chosen_[place].episode)];
  }

  std::int64_t length(std::size_t place) const { return chosen_[place].end - chosen_[place].begin; }

  bool is_cut(std::size_t place) const { return !is_whole(data_, chosen_[place]); }

  double fps() const {
    const auto fps = source_.info.find("fps");
    if (fps == source_.info.end() || !fps->is_number() || !(fps->get<double>() > 0))
      throw DataFormatError("'{}' has no number 'fps' above 0, expected it to time cut episodes",
                            source_.info_file().string());
    return fps->get<double>();
  }

  /// Rows of a data file for the chosen stretches [from, to), all of which it holds.
  void copy_data(const fs::path& file, std::size_t from, std::size_t to, std::int64_t file_begin,
                 const fs::path& target) {
    const auto table = open_parquet_table({file});
    const auto column = [&](const char* name) {
      return table->find(name) ? table->read<std::int64_t>(name, 0, table->rows()) : Numbers();
    };
    const auto index = column("index");
    const auto frame = cuts_ ? column("frame_index") : Numbers();
    const auto seconds = cuts_ && table->find("timestamp")
                             ? table->read<double>("timestamp", 0, table->rows())
                             : std::vector<double>();
    std::vector<RowStretch> rows;
    ColumnChanges changes;
    for (auto place = from; place < to; ++place) {
      const auto first = data_.offsets[chosen_[place].episode] - file_begin;
      const auto begin = first + chosen_[place].begin, end = first + chosen_[place].end;
      if (!rows.empty() && rows.back().end == begin)
        rows.back().end = end;
      else
        rows.push_back({begin, end});
      const auto renumber = [&](const char* name, const Numbers& old, std::int64_t new_begin) {
        for (auto row = begin; row < end && !old.empty(); ++row)
          changes.shifts[name].push_back(new_begin + row - begin -
                                         old[static_cast<std::size_t>(row)]);
      };
      const auto number = static_cast<std::int64_t>(place) - episode(place).number;
      auto& numbers = changes.shifts["episode_index"];
      numbers.insert(numbers.end(), static_cast<std::size_t>(end - begin), number);
      renumber("index", index, first_frames_[place]);
      renumber("frame_index", frame, 0);
      if (cuts_) {
        const auto whole = data_.length(chosen_[place].episode);
        restart_clock(place,
                      seconds.empty() ? std::span<const double>()
                                      : std::span(seconds).subspan(static_cast<std::size_t>(first),
                                                                   static_cast<std::size_t>(whole)),
                      changes.numbers["timestamp"]);
      }
    }
    make_folder_of(target);
    copy_parquet_rows(file, rows, changes, target);
    measure(target, from, to);
  }

  /// Adds the new timestamps of a stretch, of whose whole episode the old are given; none: they
  /// stay.
  void restart_clock(std::size_t place, std::span<const double> seconds,
                     std::vector<std::vector<double>>& timestamps) {
    const auto& [episode, begin, end] = chosen_[place];
    std::vector<std::vector<double>> fresh(static_cast<std::size_t>(end - begin));
    if (is_cut(place)) {
      const EpisodeClock clock(seconds, fps());
      times_[place] = {clock.at(begin), clock.at(end)};
      for (auto step = begin; step < end && begin > 0; ++step)
        fresh[static_cast<std::size_t>(step - begin)] = {clock.between(begin, step)};
    }
    std::ranges::move(fresh, std::back_inserter(timestamps));
  }

  /// What is stated of the numeric features of stretches [from, to) in a file of the copy.
  void measure(const fs::path& file, std::size_t from, std::size_t to) {
    if (!cuts_) return;
    const auto table = open_parquet_table({file});
    for (const auto& [name, feature] : source_.info["features"].items()) {
      const auto* column = table->find(name);
      if (!column || column->kind == ParquetKind::kText || column->kind == ParquetKind::kOther)
        continue;
      const auto width = table->row_size(name);
      const auto values = table->read<double>(name, 0, table->rows());
      for (auto place = from; place < to && width > 0; ++place)
        if (is_cut(place))
          measured_[place][name] = feature_statistics(
              std::span(values).subspan(
                  static_cast<std::size_t>((first_frames_[place] - first_frames_[from]) * width),
                  static_cast<std::size_t>(length(place) * width)),
              width);
    }
  }

  /// A statistic of a stretch that was cut. Of pictures, which are not decoded, the count alone is
  /// known: the share of the episode's. Empty: what is stated of the episode stays.
  std::vector<double> measured(std::size_t place, const std::string& feature,
                               const std::string& statistic, double old_count) const {
    if (const auto its = measured_[place].find(feature); its != measured_[place].end()) {
      const auto value = its->second.find(statistic);
      return value == its->second.end() ? std::vector<double>() : value->second;
    }
    if (statistic != "count") return {};
    const auto share = static_cast<double>(length(place)) /
                       static_cast<double>(data_.length(chosen_[place].episode));
    return {std::max(1.0, std::round(old_count * share))};
  }

  void copy_own_data() {
    for (std::size_t place = 0; place < chosen_.size(); ++place) {
      const auto number = static_cast<std::int64_t>(place), old = episode(place).number;
      const auto size = source_.chunk_size();
      copy_data(source_.data_files[episode(place).data_file], place, place + 1,
                data_.offsets[chosen_[place].episode], copy_.data_path(number / size, number));
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
    const auto table = open_parquet_table(source_.episode_files);
    const auto size = source_.chunk_size();
    std::int64_t first_row = 0, number = 0;
    for (const auto& file : source_.episode_files) {
      const auto end = first_row + open_parquet_table({file})->rows();
      std::vector<std::size_t> places;
      for (std::size_t place = 0; place < chosen_.size(); ++place)
        if (chosen_[place].episode >= first_row && chosen_[place].episode < end)
          places.push_back(place);
      if (!places.empty()) {
        std::vector<RowStretch> rows;
        for (const auto place : places)
          rows.push_back(
              {chosen_[place].episode - first_row, chosen_[place].episode - first_row + 1});
        const auto target =
            copy_.root / "meta" / "episodes" /
            fmt::format("chunk-{:03d}/file-{:03d}.parquet", number / size, number % size);
        make_folder_of(target);
        copy_parquet_rows(file, rows, episode_changes(*table, places, number), target);
        if (cuts_) say_what_was_cut(target, places);
        copy_.episode_files[static_cast<std::size_t>(number)] = target;
        ++number;
      }
      first_row = end;
    }
    copy_.episode_files.resize(static_cast<std::size_t>(number));
    copy_shared_videos(*table);
    join_statistics();
  }

  void say_what_was_cut(const fs::path& table, const std::vector<std::size_t>& places) const {
    Numbers from, first;
    for (const auto place : places) {
      from.push_back(episode(place).number);
      first.push_back(chosen_[place].begin);
    }
    append_parquet_column(table, kCutFrom, from);
    append_parquet_column(table, kFirstStep, first);
  }

  /// What leads from the old numbers in the table of episodes to the new ones.
  ColumnChanges episode_changes(const ParquetTable& table, const std::vector<std::size_t>& places,
                                std::int64_t file) const {
    ColumnChanges changes;
    auto& shifts = changes.shifts;
    const auto size = source_.chunk_size();
    const auto renumber = [&](const std::string& column, auto new_value) {
      if (!table.find(column)) return;
      const auto old = table.read<std::int64_t>(column, 0, table.rows());
      for (const auto place : places)
        shifts[column].push_back(new_value(place) -
                                 old[static_cast<std::size_t>(chosen_[place].episode)]);
    };
    const auto first = [&](std::size_t place) { return first_frames_[place]; };
    renumber("episode_index", [](std::size_t place) { return static_cast<std::int64_t>(place); });
    renumber("length", [&](std::size_t place) { return length(place); });
    renumber("dataset_from_index", first);
    renumber("dataset_to_index",
             [&](std::size_t place) { return first_frames_[place] + length(place); });
    renumber("data/chunk_index", [&](std::size_t place) { return data_file_of_[place] / size; });
    renumber("data/file_index", [&](std::size_t place) { return data_file_of_[place] % size; });
    renumber("meta/episodes/chunk_index", [&](std::size_t) { return file / size; });
    renumber("meta/episodes/file_index", [&](std::size_t) { return file % size; });
    for (const auto& [feature, follows] :
         {std::pair{"index", "dataset_from_index"}, std::pair{"episode_index", "episode_index"}})
      for (const auto& [name, kind, list] : table.columns()) {
        const auto prefix = statistic_column(feature, "");
        if (name.starts_with(prefix) && moves_with_values(name.substr(prefix.size())) &&
            shifts.contains(follows))
          shifts[name] = shifts[follows];
      }
    if (cuts_) {
      state_statistics(table, places, changes);
      state_video_times(table, places, changes);
      state_found_labels(table, places, changes);
    }
    return changes;
  }

  /// Of stretches that were cut.
  void state_statistics(const ParquetTable& table, const std::vector<std::size_t>& places,
                        ColumnChanges& changes) const {
    constexpr auto kBegin = kStatisticColumns.size();
    for (const auto& [name, kind, list] : table.columns()) {
      const auto slash = name.rfind('/');
      if (!name.starts_with(kStatisticColumns) || slash < kBegin) continue;
      const auto feature = name.substr(kBegin, slash - kBegin);
      const auto statistic = name.substr(slash + 1);
      const auto old =
          statistic == "count" ? table.read<double>(name, 0, table.rows()) : std::vector<double>();
      auto& numbers = changes.numbers[name];
      for (const auto place : places) {
        const auto row = static_cast<std::size_t>(chosen_[place].episode);
        numbers.push_back(is_cut(place)
                              ? measured(place, feature, statistic, row < old.size() ? old[row] : 0)
                              : std::vector<double>());
      }
    }
  }

  /// A stretch is a shorter time of the same video, which need not be encoded anew.
  void state_video_times(const ParquetTable& table, const std::vector<std::size_t>& places,
                         ColumnChanges& changes) const {
    for (const auto& video : source_.features_of("video")) {
      const auto from = fmt::format("videos/{}/from_timestamp", video);
      const auto to = fmt::format("videos/{}/to_timestamp", video);
      if (!table.find(from)) continue;
      const auto begins = table.read<double>(from, 0, table.rows());
      for (const auto place : places) {
        const auto old = begins[static_cast<std::size_t>(chosen_[place].episode)];
        const auto& [begin, end] = times_[place];
        const bool ends_early = chosen_[place].end < data_.length(chosen_[place].episode);
        changes.numbers[from].push_back(chosen_[place].begin > 0 ? std::vector{old + begin}
                                                                 : std::vector<double>());
        changes.numbers[to].push_back(ends_early ? std::vector{old + end} : std::vector<double>());
      }
    }
  }

  /// Whom Kindred found to act in all of a stretch; -1 where several do.
  void state_found_labels(const ParquetTable& table, const std::vector<std::size_t>& places,
                          ColumnChanges& changes) const {
    for (const auto& [name, kind, list] : table.columns()) {
      if (!found_by_kindred(source_.info, name)) continue;
      for (const auto place : places) {
        auto& label = changes.numbers[name].emplace_back();
        const auto its = measured_[place].find(name);
        if (its == measured_[place].end()) continue;
        const auto least = its->second.at("min"), most = its->second.at("max");
        label = {least == most ? least[0] : -1.0};
      }
    }
  }

  void copy_shared_videos(const ParquetTable& table) const {
    for (const auto& video : source_.features_of("video")) {
      const auto chunk = fmt::format("videos/{}/chunk_index", video);
      const auto file = fmt::format("videos/{}/file_index", video);
      if (!table.find(chunk) || !table.find(file)) continue;
      const auto chunks = table.read<std::int64_t>(chunk, 0, table.rows());
      const auto files = table.read<std::int64_t>(file, 0, table.rows());
      std::set<std::pair<std::int64_t, std::int64_t>> used;
      for (const auto& one : chosen_)
        used.emplace(chunks[static_cast<std::size_t>(one.episode)],
                     files[static_cast<std::size_t>(one.episode)]);
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
    const auto table = open_parquet_table(copy_.episode_files);
    write_text(copy_.root / "meta" / kStatistics, spread(joined_statistics(*table, old)));
  }

  void copy_episode_lines() const {
    std::string lines;
    for (std::size_t place = 0; place < chosen_.size(); ++place) {
      auto line = source_.lines[static_cast<std::size_t>(chosen_[place].episode)];
      line["episode_index"] = place;
      if (cuts_) {
        line["length"] = length(place);
        line[kCutFrom] = episode(place).number;
        line[kFirstStep] = chosen_[place].begin;
      }
      lines += line.dump() + "\n";
    }
    const auto meta = copy_.root / "meta";
    make_folder_of(meta / kLerobotEpisodeLines);
    write_text(meta / kLerobotEpisodeLines, lines);
    std::error_code ignored;
    const auto statistics = source_.root / "meta" / kEpisodeStatistics;
    if (fs::exists(statistics, ignored))
      write_text(meta / kEpisodeStatistics, new_statistics(read_json_lines(statistics)));
  }

  /// The lines of the chosen stretches.
  std::string new_statistics(const std::vector<Json>& lines) const {
    std::map<std::int64_t, const Json*> line_of;
    for (const auto& line : lines) line_of[line.value("episode_index", std::int64_t{-1})] = &line;
    std::string text;
    for (std::size_t place = 0; place < chosen_.size(); ++place) {
      const auto number = static_cast<std::int64_t>(place), old = episode(place).number;
      const auto at = line_of.find(old);
      if (at == line_of.end()) continue;
      auto line = *at->second;
      if (line.contains("stats") && line["stats"].is_object()) {
        move_by(line["stats"], "index",
                first_frames_[place] - data_.offsets[chosen_[place].episode]);
        move_by(line["stats"], "episode_index", number - old);
        if (is_cut(place)) state_measured(line["stats"], place);
      }
      line["episode_index"] = number;
      text += line.dump() + "\n";
    }
    return text;
  }

  void state_measured(Json& statistics, std::size_t place) const {
    for (auto& [feature, its] : statistics.items()) {
      if (!its.is_object()) continue;
      for (auto& [name, values] : its.items()) {
        const bool counts = values.is_array() && values.size() == 1 && values[0].is_number();
        fill_numbers(values, measured(place, feature, name, counts ? values[0].get<double>() : 0));
      }
    }
  }

  static void move_by(Json& statistics, const char* feature, std::int64_t by) {
    if (!statistics.contains(feature) || !statistics[feature].is_object()) return;
    for (auto& [name, values] : statistics[feature].items())
      if (moves_with_values(name) && values.is_array())
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

  using Statistics = std::map<std::string, std::vector<double>>;

  LerobotFolder source_, copy_;
  const Trajectories& data_;
  std::span<const Stretch> chosen_;
  bool cuts_;  ///< Whether a stretch is not all of its episode.
  std::int64_t frames_ = 0;
  Numbers first_frames_;                                     ///< [chosen]
  Numbers data_file_of_;                                     ///< [chosen], v3
  std::vector<std::pair<double, double>> times_;             ///< [chosen], of those cut: seconds.
  std::vector<std::map<std::string, Statistics>> measured_;  ///< [chosen], of those cut: features.
};

}  // namespace

void extract_lerobot(const fs::path& source, const Trajectories& data,
                     std::span<const Stretch> stretches, const fs::path& target) {
  StagedFolder folder(target);
  LerobotExtract(open_lerobot(source), data, stretches, folder.path()).write();
  folder.commit();
}

}  // namespace kindred
