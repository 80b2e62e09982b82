#include "kindred/data/extract.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_copy.h"
#include "kindred/data/hdf5_steps.h"
#include "kindred/data/lerobot_extract.h"
#include "kindred/data/minari_tables.h"
#include "kindred/data/parquet_extract.h"
#include "kindred/data/select.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestNesting = 16;  // a damaged group can contain itself

using Stretches = std::span<const Stretch>;

std::int64_t steps_of(Stretches stretches) {
  std::int64_t steps = 0;
  for (const auto& one : stretches) steps += one.end - one.begin;
  return steps;
}

const std::string& id_of(const Trajectories& data, const Stretch& stretch) {
  return data.ids[static_cast<std::size_t>(stretch.episode)];
}

bool all_whole(const Trajectories& data, Stretches stretches) {
  return std::ranges::all_of(stretches, [&](const auto& one) { return is_whole(data, one); });
}

std::vector<std::string> ids_of(const Trajectories& data, Stretches stretches) {
  std::vector<std::string> ids;
  for (const auto& one : stretches) ids.push_back(id_of(data, one));
  return ids;
}

/// The rows of the stretches, those of neighbours as one.
std::vector<hdf5::RowRange> rows_of(const Trajectories& data, Stretches stretches) {
  std::vector<hdf5::RowRange> ranges;
  for (const auto& one : stretches) {
    const auto first = data.offsets[one.episode];
    if (!ranges.empty() && ranges.back().end == first + one.begin)
      ranges.back().end = first + one.end;
    else
      ranges.push_back({first + one.begin, first + one.end});
  }
  return ranges;
}

/// A group with all in it, of which arrays that have a row per step lose rows.
class GroupCopy {
 public:
  /// Which rows to keep of arrays with so many.
  using RowsToKeep = std::map<std::int64_t, std::vector<hdf5::RowRange>>;

  /// What is `left_out` is not copied, and what is `kept` loses nothing.
  GroupCopy(const hdf5::InputFile& file, hdf5::OutputFile& target, RowsToKeep rows,
            std::string left_out, std::string kept = "")
      : file_(file),
        target_(target),
        rows_(std::move(rows)),
        left_out_(std::move(left_out)),
        kept_(std::move(kept)) {}

  void copy(const std::string& group, const std::string& as, int depth = 0) const {
    if (depth > kDeepestNesting)
      throw DataFormatError("'{}' group '{}' is nested more than {} deep", file_.path().string(),
                            group, kDeepestNesting);
    hdf5::copy_attributes(file_, group, target_, as);
    for (const auto& child : file_.children(group)) {
      const auto name = hdf5::join(group, child), new_name = hdf5::join(as, child);
      if (name == left_out_) continue;
      if (file_.has_group(name) && name != kept_) {
        target_.make_group(new_name);
        copy(name, new_name, depth + 1);
      } else if (const auto* rows = file_.has_dataset(name) ? rows_to_keep(name) : nullptr) {
        hdf5::copy_rows(file_, name, *rows, target_, new_name);
      } else {
        hdf5::copy_object(file_, name, target_, new_name);
      }
    }
  }

 private:
  const std::vector<hdf5::RowRange>* rows_to_keep(const std::string& name) const {
    const auto shape = hdf5::shape_of(file_, name);
    const auto rows = shape.empty() ? rows_.end() : rows_.find(shape[0]);
    return rows == rows_.end() ? nullptr : &rows->second;
  }

  const hdf5::InputFile& file_;
  hdf5::OutputFile& target_;
  RowsToKeep rows_;
  std::string left_out_, kept_;
};

/// A D4RL file: columns with a row per step lose rows, everything else stays.
void extract_d4rl(const fs::path& source, const Trajectories& data, Stretches stretches,
                  const fs::path& target) {
  const hdf5::StepLayout layout;
  const hdf5::InputFile from(source);
  const auto steps = from.dataset(layout.actions).rows();
  const bool cuts = !all_whole(data, stretches);
  hdf5::OutputFile to(target);
  GroupCopy(from, to, {{steps, rows_of(data, stretches)}}, cuts ? layout.timeouts : "", "metadata")
      .copy("", "");
  if (cuts) to.write_flags(layout.timeouts, timeouts_of(data, stretches));
  to.commit();
}

/// A group of an episode, or of a part of it: arrays with a row per step, or one more for what
/// came last, lose rows.
void copy_stretch(const hdf5::InputFile& from, const std::string& group, const Trajectories& data,
                  const Stretch& stretch, hdf5::OutputFile& to, const std::string& as,
                  const std::string& left_out = "") {
  if (is_whole(data, stretch)) return hdf5::copy_object(from, group, to, as);
  const auto [episode, begin, end] = stretch;
  const auto length = data.length(episode);
  to.make_group(as);
  GroupCopy(from, to, {{length, {{begin, end}}}, {length + 1, {{begin, end + 1}}}},
            hdf5::join(group, left_out))
      .copy(group, as);
}

/// Everything in the root but what is named.
void copy_all_but(const hdf5::InputFile& source, const std::set<std::string>& names,
                  hdf5::OutputFile& target) {
  hdf5::copy_attributes(source, "", target, "");
  for (const auto& child : source.children())
    if (!names.contains(child)) hdf5::copy_object(source, child, target, child);
}

void copy_masks(const hdf5::InputFile& source, const std::vector<std::string>& demos,
                hdf5::OutputFile& target) {
  if (!source.has_group("mask")) return;
  const std::set<std::string> kept(demos.begin(), demos.end());
  target.make_group("mask");
  hdf5::copy_attributes(source, "mask", target, "mask");
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
    hdf5::copy_rows(source, name, rows, target, name);
  }
}

/// Lists of demos that were cut name all their parts.
void write_masks_of_parts(const hdf5::InputFile& source, const std::vector<std::string>& demos,
                          hdf5::OutputFile& target) {
  if (!source.has_group("mask")) return;
  for (const auto& child : source.children("mask")) {
    const auto name = hdf5::join("mask", child);
    const auto names = hdf5::words_of(source, name);
    if (!names) continue;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < demos.size(); ++i)
      if (std::ranges::find(*names, demos[i]) != names->end())
        parts.push_back(fmt::format("demo_{}", i));
    if (!parts.empty()) target.write_strings(name, parts);
  }
}

/// Demos that are not cut keep their names.
void extract_robomimic(const fs::path& source, const Trajectories& data, Stretches stretches,
                       const fs::path& target) {
  const hdf5::InputFile from(source);
  const bool cuts = !all_whole(data, stretches);
  const auto demos = ids_of(data, stretches);
  hdf5::OutputFile to(target);
  copy_all_but(from, {"data", "mask"}, to);
  to.make_group("data");
  hdf5::copy_attributes(from, "data", to, "data");
  if (from.has_attribute("data", "total")) to.write_attribute("data", "total", steps_of(stretches));
  const std::set<std::string> all(data.ids.begin(), data.ids.end());
  for (const auto& child : from.children("data"))
    if (const auto name = hdf5::join("data", child); !all.contains(child))
      hdf5::copy_object(from, name, to, name);
  for (std::size_t i = 0; i < demos.size(); ++i) {
    const auto name = hdf5::join("data", demos[i]);
    const auto as = cuts ? fmt::format("data/demo_{}", i) : name;
    copy_stretch(from, name, data, stretches[i], to, as);
    if (!cuts) continue;
    to.write_attribute(as, "num_samples", stretches[i].end - stretches[i].begin);
    to.write_attribute(as, kCutFrom, demos[i]);
    to.write_attribute(as, kFirstStep, stretches[i].begin);
  }
  if (cuts)
    write_masks_of_parts(from, demos, to);
  else
    copy_masks(from, demos, to);
  to.commit();
}

void extract_minari_file(const fs::path& source, const Trajectories& data, Stretches stretches,
                         const fs::path& target) {
  constexpr const char* kTruncations = "truncations";
  const bool cuts = !all_whole(data, stretches);
  const hdf5::InputFile from(source);
  hdf5::OutputFile to(target);
  copy_all_but(from, {data.ids.begin(), data.ids.end()}, to);
  std::int64_t number = 0;
  for (const auto& one : stretches) {
    const auto group = fmt::format("episode_{}", number);
    copy_stretch(from, id_of(data, one), data, one, to, group, kTruncations);
    to.write_attribute(group, "id", number++);
    if (cuts) {
      to.write_attribute(group, kCutFrom, id_of(data, one));
      to.write_attribute(group, kFirstStep, one.begin);
    }
    if (is_whole(data, one)) continue;
    to.write_attribute(group, "total_steps", one.end - one.begin);
    to.write_flags(hdf5::join(group, kTruncations), timeouts_of(data, {&one, 1}));
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

void extract_minari(const fs::path& source, const Trajectories& data, Stretches stretches,
                    const fs::path& target) {
  std::error_code ignored;
  const auto main_file = fs::is_directory(source, ignored) ? minari_main_file(source) : source;
  StagedFolder folder(target);
  const auto data_folder = minari_data_folder(folder);
  nlohmann::ordered_json stated = {{"dataset_id", minari_id(target)},
                                   {"total_episodes", stretches.size()},
                                   {"total_steps", steps_of(stretches)}};
  if (main_file.empty()) {
    copy_minari_tables(open_minari_tables(minari_tables_folder(source)), data, stretches, stated,
                       data_folder);
  } else {
    extract_minari_file(main_file, data, stretches, data_folder / kMinariMainFile);
    stated["dataset_size"] = minari_dataset_size(fs::file_size(data_folder / kMinariMainFile));
    write_text(data_folder / kMinariMetadata,
               changed_minari_metadata(main_file.parent_path() / kMinariMetadata, stated));
  }
  folder.commit();
}

}  // namespace

void extract_stretches(const fs::path& source, Format format, const Trajectories& data,
                       Stretches stretches, const fs::path& target, const ReadOptions& reading) {
  if (stretches.empty()) throw InvalidArgument("'{}' would hold no episode", target.string());
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const auto& [episode, begin, end] = stretches[i];
    if (episode < 0 || episode >= data.episodes() || begin < 0 || begin >= end ||
        end > data.length(episode))
      throw InvalidArgument("steps {} to {} of episode {} are not in the data", begin, end,
                            episode);
    const auto before = i == 0 ? Stretch{-1, 0, 0} : stretches[i - 1];
    if (std::pair(episode, begin) < std::pair(before.episode, before.end))
      throw InvalidArgument("what to extract must be in the order of the data, without overlap");
  }
  const fs::path name = target.filename().empty() ? target.parent_path() : target;  // "name/"
  std::error_code ignored;
  if (fs::exists(name, ignored))
    throw InvalidArgument("'{}' exists; remove it or choose another name", name.string());
  switch (format) {
    case Format::kD4rl:
      return extract_d4rl(source, data, stretches, name);
    case Format::kMinari:
      return extract_minari(source, data, stretches, name);
    case Format::kRobomimic:
      return extract_robomimic(source, data, stretches, name);
    case Format::kLerobot:
      return extract_lerobot(source, data, stretches, name);
    case Format::kParquet:
      return extract_parquet(source, data, stretches, reading, name);
    default:
      return write_trajectories(select_stretches(data, stretches), name, format);
  }
}

void extract_episodes(const fs::path& source, Format format, const Trajectories& data,
                      std::span<const std::int64_t> episodes, const fs::path& target) {
  std::vector<Stretch> stretches;
  for (const auto episode : episodes) {
    const bool exists = episode >= 0 && episode < data.episodes();
    if (!exists || (!stretches.empty() && stretches.back().episode >= episode))
      throw InvalidArgument("the episodes to extract must increase from 0 to below {}",
                            data.episodes());
    stretches.push_back({episode, 0, data.length(episode)});
  }
  extract_stretches(source, format, data, stretches, target);
}

}  // namespace kindred
