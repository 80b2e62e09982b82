#include "kindred/data/label_writer.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <system_error>
#include <unordered_map>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/csv.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_steps.h"
#include "kindred/data/lerobot_labels.h"
#include "kindred/data/minari_tables.h"
#include "kindred/data/select.h"
#include "kindred/data/undo.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestKey = 100;  // it becomes part of a file's name

/// "policy" for "policy_id".
std::string stem_of(const std::string& key) {
  return key.ends_with("_id") ? key.substr(0, key.size() - 3) : key;
}

void check_key(const std::string& key) {
  const auto allowed = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  if (stem_of(key).empty() || !std::ranges::all_of(key, allowed))
    throw InvalidArgument("key '{}' cannot name labels: use letters, digits, '_' and '-'", key);
  if (key.size() > kLongestKey)
    throw InvalidArgument("the key has {} characters; use at most {}", key.size(), kLongestKey);
}

bool has_sidecar_only(Format format) {
  return format == Format::kNpz || format == Format::kParquet || format == Format::kHdf5;
}

/// The HDF5 file that holds the labels; none for NPZ, Parquet and files of no format.
fs::path labelled_file(const fs::path& path, Format format) {
  std::error_code ignored;
  if (has_sidecar_only(format)) return {};
  if (format != Format::kMinari || !fs::is_directory(path, ignored)) return path;
  return minari_main_file(path);
}

/// Labels of a format in its HDF5 file: what is there, and how to write others.
class Place {
 public:
  Place(Format format, const std::string& key, const Trajectories& data, bool of_steps)
      : format_(format), key_(key), data_(data), of_steps_(of_steps) {}

  /// A dataset's name, or how the names of all datasets or attributes begin.
  std::string name() const {
    switch (format_) {
      case Format::kD4rl:
        return "infos/" + key_;
      case Format::kMinari:
        return of_steps_ ? "infos/" + key_ : key_;
      case Format::kRobomimic:
        return of_steps_ ? key_ : "mask/" + stem_of(key_) + "_";
      default:
        return "found/" + key_ + (of_steps_ ? "_steps" : "");
    }
  }

  /// In words.
  std::string description() const {
    if (is_in_groups()) return fmt::format("'{}' of every step in its episodes", name());
    switch (format_) {
      case Format::kMinari:
        return fmt::format("attribute '{}' of its episodes", key_);
      case Format::kRobomimic:
        return fmt::format("'{}0', …", name());
      default:
        return fmt::format("'{}'", name());
    }
  }

  /// The datasets that hold labels; for Minari the groups with the attribute.
  std::vector<std::string> taken(const hdf5::InputFile& file) const {
    if (is_in_groups()) {
      auto names = names_in_groups();
      std::erase_if(names, [&](const auto& name) { return !file.has_dataset(name); });
      return names;
    }
    if (format_ == Format::kRobomimic)
      return file.has_group("mask") ? hdf5::numbered_children(file, "mask", stem_of(key_) + "_")
                                    : std::vector<std::string>();
    if (format_ != Format::kMinari)
      return file.has_dataset(name()) ? std::vector{name()} : std::vector<std::string>();
    std::vector<std::string> groups;
    std::ranges::copy_if(data_.ids, std::back_inserter(groups),
                         [&](const auto& id) { return file.has_attribute(id, key_); });
    return groups;
  }

  void clear(hdf5::ChangedFile& file, const std::vector<std::string>& taken) const {
    for (const auto& name : taken)
      if (format_ == Format::kMinari && !of_steps_)
        file.remove_attribute(name, key_);
      else
        file.remove(name);
  }

  void write(hdf5::ChangedFile& file, const EpisodeLabels& found, std::int64_t rows) const {
    if (is_in_groups())
      write_in_groups(file, found.steps);
    else if (format_ == Format::kD4rl)
      file.write<std::int32_t>(name(), of_steps(found, rows), {rows});
    else if (format_ == Format::kMinari)
      write_attributes(file, found);
    else if (format_ == Format::kRobomimic)
      write_masks(file, found);
    else if (of_steps_)
      file.write<std::int32_t>(name(), found.steps, {data_.steps()});
    else
      file.write<std::int32_t>(name(), found.labels, {data_.episodes()});
    file.write_attribute("", found_mark(name()), 1);
  }

 private:
  /// Labels of steps where each episode is a group.
  bool is_in_groups() const {
    return of_steps_ && (format_ == Format::kMinari || format_ == Format::kRobomimic);
  }

  std::vector<std::string> names_in_groups() const {
    std::vector<std::string> names;
    for (const auto& id : data_.ids)
      names.push_back((format_ == Format::kRobomimic ? "data/" : "") + id + "/" + name());
    return names;
  }

  void write_in_groups(hdf5::ChangedFile& file, std::span<const std::int32_t> steps) const {
    const auto names = names_in_groups();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto episode = static_cast<std::int64_t>(i);
      const auto part = steps.subspan(static_cast<std::size_t>(data_.offsets[episode]),
                                      static_cast<std::size_t>(data_.length(episode)));
      file.write(names[i], part, {data_.length(episode)});
    }
  }

  std::vector<std::int32_t> of_steps(const EpisodeLabels& found, std::int64_t rows) const {
    auto labels = found.steps;
    labels.resize(static_cast<std::size_t>(rows), kNoLabel);
    if (of_steps_) return labels;
    for (std::int64_t i = 0; i < data_.episodes(); ++i)
      std::fill(labels.begin() + data_.offsets[i], labels.begin() + data_.offsets[i + 1],
                found.labels[static_cast<std::size_t>(i)]);
    return labels;
  }

  void write_attributes(hdf5::ChangedFile& file, const EpisodeLabels& found) const {
    for (std::size_t i = 0; i < found.labels.size(); ++i)
      if (found.labels[i] != kNoLabel) file.write_attribute(data_.ids[i], key_, found.labels[i]);
  }

  void write_masks(hdf5::ChangedFile& file, const EpisodeLabels& found) const {
    std::map<std::int32_t, std::vector<std::string>> demos;
    for (std::size_t i = 0; i < found.labels.size(); ++i)
      if (found.labels[i] != kNoLabel) demos[found.labels[i]].push_back(data_.ids[i]);
    for (const auto& [label, names] : demos)
      file.write_strings(fmt::format("{}{}", name(), label), names);
  }

  Format format_;
  const std::string& key_;
  const Trajectories& data_;
  bool of_steps_;
};

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgument(
      "{}; write the labels under another name with --key NAME, or replace what is there with "
      "--replace (--undo brings it back)",
      what);
}

std::unique_ptr<FileChange> change_file(const fs::path& path, const Place& place, Format format,
                                        const EpisodeLabels& labels, const LabelOptions& options) {
  std::vector<std::string> taken;
  std::int64_t rows = 0;
  {
    const hdf5::InputFile file(path);
    taken = place.taken(file);
    if (!taken.empty() && !options.replace && !file.has_attribute("", found_mark(place.name())))
      refuse(fmt::format("'{}' has labels that Kindred did not write, {}", path.string(),
                         place.description()));
    if (format == Format::kD4rl) rows = file.dataset(hdf5::StepLayout{}.actions).rows();
  }
  return std::make_unique<FileChange>(path, [&](const fs::path& copy) {
    hdf5::ChangedFile file(copy, path);
    place.clear(file, taken);
    place.write(file, labels, rows);
    file.commit();
  });
}

fs::path metadata_beside(const fs::path& main_file) {
  return main_file.parent_path() / kMinariMetadata;
}

/// Minari's metadata state the size of the dataset; null when they need not change.
std::unique_ptr<FileChange> change_metadata(const fs::path& path, std::uintmax_t bytes) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return nullptr;
  const Json size = {{"dataset_size", minari_dataset_size(bytes)}};
  const auto changed = changed_minari_metadata(path, size);
  if (changed == changed_minari_metadata(path, Json::object())) return nullptr;
  return std::make_unique<FileChange>(path,
                                      [&](const fs::path& copy) { write_text(copy, changed); });
}

/// A folder's path without the slash that may end it.
fs::path folder_name(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

fs::path sidecar_of(const fs::path& path, const std::string& key) {
  return path.parent_path() / fmt::format("{}.{}.csv", path.stem().string(), stem_of(key));
}

const char* sidecar_words(const EpisodeLabels& labels) {
  return labels.steps.empty() ? "a table by episode" : "a table of who acts from when to when";
}

std::string table_of_stretches(const Trajectories& data, std::span<const std::int32_t> steps) {
  std::string text = "episode,start,end,policy\n";
  for (const auto& one : labelled_stretches(steps, data.offsets.span()))
    text += fmt::format("{},{},{},{}\n", csv_field(data.ids[static_cast<std::size_t>(one.episode)]),
                        one.begin, one.end, one.label);
  return text;
}

std::unique_ptr<FileChange> change_sidecar(const fs::path& path, const Trajectories& data,
                                           const EpisodeLabels& found,
                                           const LabelOptions& options) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !options.replace && !can_undo(path))
    refuse(fmt::format("'{}' is there, and Kindred did not write it", path.string()));
  if (!found.steps.empty())
    return std::make_unique<FileChange>(path, [&](const fs::path& copy) {
      write_text(copy, table_of_stretches(data, found.steps));
    });
  std::vector<std::string> episodes;
  std::vector<std::int32_t> labels;
  std::vector<double> margins;
  for (std::size_t i = 0; i < found.labels.size(); ++i) {
    if (found.labels[i] == kNoLabel) continue;
    episodes.push_back(data.ids[i]);
    labels.push_back(found.labels[i]);
    if (!found.margins.empty()) margins.push_back(found.margins[i]);
  }
  return std::make_unique<FileChange>(
      path, [&](const fs::path& copy) { write_labels_csv(copy, episodes, labels, margins); });
}

std::vector<LabelledFile> label_lerobot(const fs::path& path, const Trajectories& data,
                                        const EpisodeLabels& labels, const LabelOptions& options) {
  const auto folder = open_lerobot(path);
  const FolderLock lock(folder.info_file());
  if (!options.replace && has_foreign_labels(folder, options.key))
    refuse(fmt::format("'{}' has something called '{}' that Kindred did not write", path.string(),
                       options.key));
  auto changes = change_lerobot(folder, data, labels, options.key);
  std::vector<LabelledFile> written;
  if (!folder.many_in_a_file && !labels.steps.empty()) {
    written.push_back({sidecar_of(folder_name(path), options.key), sidecar_words(labels)});
    changes.push_back(change_sidecar(written[0].file, data, labels, options));
  }
  for (const auto& change : changes) change->commit();
  if (!folder.many_in_a_file) {
    written.push_back({folder.episode_files[0], fmt::format("'{}' of each episode", options.key)});
    return written;
  }
  return {{folder.root / "meta" / "episodes", fmt::format("column '{}' by episode", options.key)},
          {folder.root / "data", fmt::format("column '{}' by step", options.key)}};
}

/// The tables of a Minari dataset that is not one HDF5 file; empty of everything else.
fs::path labelled_tables(const fs::path& path, Format format) {
  std::error_code ignored;
  const bool folder = format == Format::kMinari && fs::is_directory(path, ignored);
  return folder && minari_main_file(path).empty() ? minari_tables_folder(path) : fs::path();
}

std::vector<LabelledFile> label_tables(const fs::path& path, const fs::path& folder,
                                       const Trajectories& data, const EpisodeLabels& labels,
                                       const LabelOptions& options) {
  const FolderLock lock(folder / kMinariMetadata);
  const auto tables = open_minari_tables(folder);
  const auto has_key = [&](const auto& episode) { return episode.metadata.contains(options.key); };
  if (!options.replace && !tables.found_by_kindred(options.key) &&
      std::ranges::any_of(tables.episodes, has_key))
    refuse(fmt::format("'{}' has episodes with a '{}' that Kindred did not write", path.string(),
                       options.key));
  auto changes = change_minari_tables(tables, data, labels, options.key);
  const auto sidecar = sidecar_of(folder_name(path), options.key);
  changes.push_back(change_sidecar(sidecar, data, labels, options));
  for (const auto& change : changes) change->commit();
  return {{folder, fmt::format("'{}' in the metadata of its episodes", options.key)},
          {sidecar, sidecar_words(labels)}};
}

/// Files beside `path` called `<stem>.<name>.csv` that Kindred wrote.
std::vector<fs::path> changed_sidecars(const fs::path& path) {
  const std::string prefix = path.stem().string() + ".";
  const std::string suffix = journal_of(".csv").string();
  std::vector<fs::path> found;
  std::error_code ignored;
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
        name.size() <= prefix.size() + suffix.size())
      continue;
    const auto middle = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    if (middle.find('.') == std::string::npos)
      found.push_back(path.parent_path() / (prefix + middle + ".csv"));
  }
  std::ranges::sort(found);
  return found;
}

/// Brings back those of the files that were changed, and keeps their names.
void undo_files(std::vector<fs::path>& files, const fs::path& dataset) {
  std::erase_if(files, [](const fs::path& file) { return !can_undo(file); });
  if (files.empty())
    throw InvalidArgument("there is nothing to undo: Kindred has not labelled '{}'",
                          dataset.string());
  std::vector<std::unique_ptr<FileUndo>> undos;  // nothing is touched until all of them can be
  for (const auto& file : files) undos.push_back(std::make_unique<FileUndo>(file));
  for (const auto& undo : undos) undo->commit();
}

/// In the reverse of the order in which labels are written, so that a kill leaves a folder that
/// opens: what declares a column goes last, and so does the first of several tables, since the
/// others may have fewer columns than it has, but not more.
std::vector<fs::path> undo_lerobot(const fs::path& path) {
  const auto info = path / "meta" / "info.json";
  const FolderLock lock(info);
  auto files = changed_files_below(path);
  for (auto& sidecar : changed_sidecars(folder_name(path))) files.push_back(std::move(sidecar));
  std::ranges::reverse(files);
  std::ranges::stable_partition(files, [&](const fs::path& file) { return file != info; });
  undo_files(files, path);
  return files;
}

std::vector<fs::path> undo_tables(const fs::path& path, const fs::path& folder) {
  const FolderLock lock(folder / kMinariMetadata);
  auto files = changed_sidecars(folder_name(path));
  for (auto& file : changed_files_below(folder)) files.push_back(std::move(file));
  undo_files(files, path);
  std::erase_if(files, [](const fs::path& file) { return file.filename() == kMinariMetadata; });
  files.push_back(folder);  // one name for thousands of files
  return files;
}

}  // namespace

EpisodeLabels labels_of_steps(std::vector<std::int32_t> steps,
                              std::span<const std::int64_t> offsets) {
  EpisodeLabels found;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto begin = steps.begin() + offsets[i], end = steps.begin() + offsets[i + 1];
    const bool same = std::all_of(begin, end, [&](const auto label) { return label == *begin; });
    found.labels.push_back(same ? *begin : kNoLabel);
  }
  found.steps = std::move(steps);
  return found;
}

EpisodeLabels match_labels(const Trajectories& data, const LabelsFile& found) {
  std::unordered_map<std::string_view, std::size_t> number_of;
  for (std::size_t i = 0; i < data.ids.size(); ++i) number_of.emplace(data.ids[i], i);
  EpisodeLabels matched;
  matched.labels.assign(data.ids.size(), kNoLabel);
  if (!found.margins.empty()) matched.margins.assign(data.ids.size(), 0);
  for (std::size_t row = 0; row < found.episodes.size(); ++row) {
    const auto at = number_of.find(found.episodes[row]);
    if (at == number_of.end())
      throw InvalidArgument("the labels name episode '{}', which the dataset does not have",
                            found.episodes[row]);
    if (matched.labels[at->second] != kNoLabel)
      throw InvalidArgument("the labels name episode '{}' twice", found.episodes[row]);
    matched.labels[at->second] = found.labels[row];
    if (!found.margins.empty()) matched.margins[at->second] = found.margins[row];
  }
  return matched;
}

std::vector<LabelledFile> write_labels(const fs::path& path, Format format,
                                       const Trajectories& data, const EpisodeLabels& labels,
                                       const LabelOptions& options) {
  check_key(options.key);
  if (format == Format::kLerobot) return label_lerobot(path, data, labels, options);
  if (const auto tables = labelled_tables(path, format); !tables.empty())
    return label_tables(path, tables, data, labels, options);
  const auto file = labelled_file(path, format);
  const FolderLock lock(file.empty() ? path : file);
  std::vector<LabelledFile> written;
  std::vector<std::unique_ptr<FileChange>> changes;
  const Place place(format, options.key, data, !labels.steps.empty());
  if (!file.empty()) {
    changes.push_back(change_file(file, place, format, labels, options));
    written.push_back({file, place.description()});
    if (format == Format::kMinari)
      if (auto change = change_metadata(metadata_beside(file), changes.front()->size()))
        changes.push_back(std::move(change));
  }
  if (format == Format::kD4rl || has_sidecar_only(format)) {
    const auto sidecar = sidecar_of(path, options.key);
    changes.push_back(change_sidecar(sidecar, data, labels, options));
    written.push_back({sidecar, sidecar_words(labels)});
  }
  for (const auto& change : changes) change->commit();
  return written;
}

std::vector<fs::path> undo_labels(const fs::path& path, Format format) {
  const auto tables = labelled_tables(path, format);
  if (!tables.empty()) return undo_tables(path, tables);
  if (format == Format::kLerobot) return undo_lerobot(path);
  const auto main_file = labelled_file(path, format);
  const FolderLock lock(main_file.empty() ? path : main_file);
  auto files = changed_sidecars(path);
  if (!main_file.empty()) files.push_back(main_file);
  if (format == Format::kMinari) files.push_back(metadata_beside(main_file));
  undo_files(files, path);
  return files;
}

}  // namespace kindred
