#include "kindred/data/extract.h"

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_copy.h"
#include "kindred/data/hdf5_steps.h"
#include "kindred/data/lerobot_extract.h"
#include "kindred/data/minari_tables.h"
#include "kindred/data/parquet_copy.h"
#include "kindred/data/parquet_table.h"
#include "kindred/data/select.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestNesting = 16;  // a damaged group can contain itself

std::int64_t steps_of(const Trajectories& data, std::span<const std::int64_t> episodes) {
  std::int64_t steps = 0;
  for (const auto episode : episodes) steps += data.length(episode);
  return steps;
}

std::vector<std::string> ids_of(const Trajectories& data, std::span<const std::int64_t> episodes) {
  std::vector<std::string> ids;
  for (const auto episode : episodes) ids.push_back(data.ids[static_cast<std::size_t>(episode)]);
  return ids;
}

/// The rows of the episodes, those of neighbours as one.
std::vector<hdf5::RowRange> rows_of(const Trajectories& data,
                                    std::span<const std::int64_t> episodes) {
  std::vector<hdf5::RowRange> ranges;
  for (const auto episode : episodes) {
    const auto begin = data.offsets[episode], end = data.offsets[episode + 1];
    if (!ranges.empty() && ranges.back().end == begin)
      ranges.back().end = end;
    else
      ranges.push_back({begin, end});
  }
  return ranges;
}

/// A D4RL file: columns with a row per step lose rows, everything else stays.
class D4rlExtract {
 public:
  D4rlExtract(const fs::path& source, const Trajectories& data,
              std::span<const std::int64_t> episodes, hdf5::OutputFile& target)
      : file_(source),
        steps_(file_.dataset(hdf5::StepLayout{}.actions).rows()),
        ranges_(rows_of(data, episodes)),
        target_(target) {}

  void copy() { copy_group("", 0); }

 private:
  void copy_group(const std::string& group, int depth) {
    if (depth > kDeepestNesting)
      throw DataFormatError("'{}' group '{}' is nested more than {} deep", file_.path().string(),
                            group, kDeepestNesting);
    hdf5::copy_attributes(file_, group, target_);
    for (const auto& child : file_.children(group)) {
      const auto name = hdf5::join(group, child);
      if (file_.has_group(name) && name != "metadata") {
        target_.make_group(name);
        copy_group(name, depth + 1);
      } else if (file_.has_dataset(name) && has_row_per_step(name)) {
        hdf5::copy_rows(file_, name, ranges_, target_);
      } else {
        hdf5::copy_object(file_, name, target_, name);
      }
    }
  }

  bool has_row_per_step(const std::string& name) const {
    const auto shape = hdf5::shape_of(file_, name);
    return !shape.empty() && shape[0] == steps_;
  }

  hdf5::InputFile file_;
  std::int64_t steps_;
  std::vector<hdf5::RowRange> ranges_;
  hdf5::OutputFile& target_;
};

void extract_d4rl(const fs::path& source, const Trajectories& data,
                  std::span<const std::int64_t> episodes, const fs::path& target) {
  hdf5::OutputFile file(target);
  D4rlExtract(source, data, episodes, file).copy();
  file.commit();
}

/// Everything in the root but what is named.
void copy_all_but(const hdf5::InputFile& source, const std::set<std::string>& names,
                  hdf5::OutputFile& target) {
  hdf5::copy_attributes(source, "", target);
  for (const auto& child : source.children())
    if (!names.contains(child)) hdf5::copy_object(source, child, target, child);
}

void copy_masks(const hdf5::InputFile& source, const std::vector<std::string>& demos,
                hdf5::OutputFile& target) {
  if (!source.has_group("mask")) return;
  const std::set<std::string> kept(demos.begin(), demos.end());
  target.make_group("mask");
  hdf5::copy_attributes(source, "mask", target);
  for (const auto& child : source.children("mask")) {
    const auto name = hdf5::join("mask", child);
    const auto names = hdf5::words_of(source, name);
    if (!names) {
      hdf5::copy_object(source, name, target, name);
      continue;
    }
    std::vector<hdf5::RowRange> rows;
    for (std::size_t i = 0; i < names->size(); ++i)
      if (const auto row = static_cast<std::int64_t>(i); kept.contains((*names)[i]))
        rows.push_back({row, row + 1});
    hdf5::copy_rows(source, name, rows, target);
  }
}

void extract_robomimic(const fs::path& source, const Trajectories& data,
                       std::span<const std::int64_t> episodes, const fs::path& target) {
  const hdf5::InputFile from(source);
  const auto demos = ids_of(data, episodes);
  hdf5::OutputFile to(target);
  copy_all_but(from, {"data", "mask"}, to);
  to.make_group("data");
  hdf5::copy_attributes(from, "data", to);
  if (from.has_attribute("data", "total"))
    to.write_attribute("data", "total", steps_of(data, episodes));
  const std::set<std::string> all(data.ids.begin(), data.ids.end());
  const std::set<std::string> kept(demos.begin(), demos.end());
  for (const auto& child : from.children("data"))
    if (const auto name = hdf5::join("data", child); kept.contains(child) || !all.contains(child))
      hdf5::copy_object(from, name, to, name);
  copy_masks(from, demos, to);
  to.commit();
}

void extract_minari_file(const fs::path& source, const Trajectories& data,
                         std::span<const std::int64_t> episodes, const fs::path& target) {
  const hdf5::InputFile from(source);
  hdf5::OutputFile to(target);
  copy_all_but(from, {data.ids.begin(), data.ids.end()}, to);
  std::int64_t number = 0;
  for (const auto& id : ids_of(data, episodes)) {
    const auto group = fmt::format("episode_{}", number);
    hdf5::copy_object(from, id, to, group);
    to.write_attribute(group, "id", number++);
  }
  to.commit();
}

/// Minari wants a version at the end of an id, and finds a dataset by a folder of that name.
std::string minari_id(const fs::path& folder) {
  const auto name = minari_dataset_name(folder);
  const auto digits = name.find_last_not_of("0123456789");
  const bool versioned = digits != std::string::npos && digits + 1 < name.size() && digits > 1 &&
                         name.substr(digits - 1, 2) == "-v";
  return versioned ? name : name + "-v0";
}

void extract_minari(const fs::path& source, const Trajectories& data,
                    std::span<const std::int64_t> episodes, const fs::path& target) {
  std::error_code ignored;
  const auto main_file = fs::is_directory(source, ignored) ? minari_main_file(source) : source;
  StagedFolder folder(target);
  const auto data_folder = minari_data_folder(folder);
  nlohmann::ordered_json stated = {{"dataset_id", minari_id(target)},
                                   {"total_episodes", episodes.size()},
                                   {"total_steps", steps_of(data, episodes)}};
  if (main_file.empty()) {
    copy_minari_tables(open_minari_tables(minari_tables_folder(source)), ids_of(data, episodes),
                       stated, data_folder);
  } else {
    extract_minari_file(main_file, data, episodes, data_folder / kMinariMainFile);
    stated["dataset_size"] = minari_dataset_size(fs::file_size(data_folder / kMinariMainFile));
    write_text(data_folder / kMinariMetadata,
               changed_minari_metadata(main_file.parent_path() / kMinariMetadata, stated));
  }
  folder.commit();
}

/// The files of a table that have rows left, under their names.
void extract_parquet(const fs::path& source, const Trajectories& data,
                     std::span<const std::int64_t> episodes, const fs::path& target) {
  const auto ranges = rows_of(data, episodes);
  const auto copy_file = [&](const fs::path& file, std::int64_t first, std::int64_t end,
                             const fs::path& to) {
    std::vector<RowStretch> rows;
    for (const auto& range : ranges)
      if (range.begin < end && range.end > first)
        rows.push_back({std::max(range.begin, first) - first, std::min(range.end, end) - first});
    if (rows.empty()) return;
    std::error_code error;
    fs::create_directories(to.parent_path(), error);
    copy_parquet_rows(file, rows, {}, to);
  };
  std::error_code ignored;
  if (!fs::is_directory(source, ignored)) {
    StagedFile file(target);
    copy_file(source, 0, data.steps(), file.path());
    return file.commit();
  }
  StagedFolder folder(target);
  std::int64_t first = 0;
  for (const auto& file : parquet_files(source)) {
    const auto end = first + ParquetTable({file}).rows();
    copy_file(file, first, end, folder.path() / file.lexically_relative(source));
    first = end;
  }
  folder.commit();
}

}  // namespace

void extract_episodes(const fs::path& source, Format format, const Trajectories& data,
                      std::span<const std::int64_t> episodes, const fs::path& target) {
  if (episodes.empty()) throw InvalidArgument("'{}' would hold no episode", target.string());
  const bool increasing =
      std::ranges::adjacent_find(episodes, std::greater_equal<>()) == episodes.end();
  if (!increasing || episodes.front() < 0 || episodes.back() >= data.episodes())
    throw InvalidArgument("the episodes to extract must increase from 0 to below {}",
                          data.episodes());
  const fs::path name = target.filename().empty() ? target.parent_path() : target;  // "name/"
  std::error_code ignored;
  if (fs::exists(name, ignored))
    throw InvalidArgument("'{}' exists; remove it or choose another name", name.string());
  switch (format) {
    case Format::kD4rl:
      return extract_d4rl(source, data, episodes, name);
    case Format::kMinari:
      return extract_minari(source, data, episodes, name);
    case Format::kRobomimic:
      return extract_robomimic(source, data, episodes, name);
    case Format::kLerobot:
      return extract_lerobot(source, data, episodes, name);
    case Format::kParquet:
      return extract_parquet(source, data, episodes, name);
    default:
      return write_trajectories(select_episodes(data, episodes), name, format);
  }
}

}  // namespace kindred
