#include "kindred/data/lerobot_labels.h"

#include <algorithm>
#include <array>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/parquet_append.h"
#include "kindred/data/parquet_table.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr std::array kLerobotsOwn{"index",
                                  "episode_index",
                                  "frame_index",
                                  "timestamp",
                                  "action",
                                  "task_index",
                                  "tasks",
                                  "length",
                                  "subtask",
                                  "task",
                                  "dataset_from_index",
                                  "dataset_to_index"};

void change_text(FileChanges& changes, const fs::path& path, const std::string& text) {
  changes.push_back(
      std::make_unique<FileChange>(path, [&](const fs::path& copy) { write_text(copy, text); }));
}

/// Gives each Parquet file its share of the values of all rows.
void change_tables(FileChanges& changes, const std::vector<fs::path>& files, const std::string& key,
                   std::span<const std::int64_t> values) {
  for (const auto& path : files) {
    const auto rows = static_cast<std::size_t>(open_parquet_table({path})->rows());
    if (rows > values.size())
      throw DataFormatError("'{}' has more rows than when it was read", path.string());
    const auto share = values.first(rows);
    values = values.subspan(rows);
    changes.push_back(std::make_unique<FileChange>(
        path, [&](const fs::path& copy) { append_parquet_column(copy, key, share); }));
  }
}

std::vector<std::int64_t> labels_of_frames(const Trajectories& data, const EpisodeLabels& found) {
  if (!found.steps.empty()) return {found.steps.begin(), found.steps.end()};
  std::vector<std::int64_t> values(static_cast<std::size_t>(data.steps()));
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    std::fill(values.begin() + data.offsets[i], values.begin() + data.offsets[i + 1],
              found.labels[static_cast<std::size_t>(i)]);
  return values;
}

std::string labelled_lines(const LerobotFolder& folder, const EpisodeLabels& found,
                           const std::string& key) {
  std::string text;
  for (std::size_t i = 0; i < folder.lines.size(); ++i) {
    auto line = folder.lines[i];
    line[key] = found.labels[i];
    text += line.dump() + "\n";
  }
  return text;
}

}  // namespace

bool has_foreign_labels(const LerobotFolder& folder, const std::string& key) {
  if (std::ranges::find(kLerobotsOwn, key) != kLerobotsOwn.end())
    throw InvalidArgument("LeRobot itself needs '{}'; write the labels under another name", key);
  if (found_by_kindred(folder.info, key)) return false;
  const auto has_key = [&](const auto& line) { return line.contains(key); };
  return folder.info["features"].contains(key) || std::ranges::any_of(folder.lines, has_key) ||
         (folder.many_in_a_file && open_parquet_table(folder.episode_files)->find(key)) ||
         open_parquet_table({folder.data_files[0]})->find(key);
}

FileChanges change_lerobot(LerobotFolder folder, const Trajectories& data,
                           const EpisodeLabels& labels, const std::string& key) {
  FileChanges changes;
  mark_as_found(folder, key);
  change_text(changes, folder.info_file(), folder.info.dump(4));
  if (folder.many_in_a_file) {
    const std::vector<std::int64_t> of_episodes(labels.labels.begin(), labels.labels.end());
    change_tables(changes, folder.episode_files, key, of_episodes);
    change_tables(changes, folder.data_files, key, labels_of_frames(data, labels));
  } else {
    change_text(changes, folder.episode_files[0], labelled_lines(folder, labels, key));
  }
  return changes;
}

}  // namespace kindred
