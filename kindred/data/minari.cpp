// Minari: a folder with data/main_data.hdf5, one group per episode, and data/metadata.json; or with
// a table per episode (minari_tables.h).
#include <cctype>
#include <cmath>
#include <system_error>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/checks.h"
#include "kindred/data/episodes.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_labels.h"
#include "kindred/data/hdf5_steps.h"
#include "kindred/data/minari_tables.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const hdf5::StepLayout kMinariLayout{.terminals = "terminations",
                                     .timeouts = "truncations",
                                     .final_observation = true,
                                     .length_attribute = "total_steps"};

/// The metadata beside the main file; empty when they are absent.
nlohmann::ordered_json metadata_in(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  return parse_python_json(read_text(path));
}

std::string box_space(std::int64_t dim, const char* type, const char* low, const char* high) {
  const auto repeat = [&](const char* bound) {
    std::string list;
    for (std::int64_t i = 0; i < dim; ++i) list += (i ? ", " : "") + std::string(bound);
    return list;
  };
  return fmt::format(
      R"({{"type": "Box", "dtype": "{}", "shape": [{}], "low": [{}], "high": [{}]}})", type, dim,
      repeat(low), repeat(high));
}

std::string float_space(std::int64_t dim) {
  return box_space(dim, "float32", "-Infinity", "Infinity");
}

json metadata_of(const Trajectories& data, const std::string& name) {
  const bool bytes = data.observations.is_bytes();
  return {{"dataset_id", fmt::format("kindred/{}-v0", name)},
          {"total_episodes", data.episodes()},
          {"total_steps", data.steps()},
          {"data_format", "hdf5"},
          {"jpeg_encoding", false},
          {"minari_version", "0.5.0"},
          {"observation_space", bytes ? box_space(data.observations.dim(), "uint8", "0", "255")
                                      : float_space(data.observations.dim())},
          {"action_space",
           data.actions.is_discrete()
               ? fmt::format(R"({{"type": "Discrete", "dtype": "int64", "start": 0, "n": {}}})",
                             data.actions.count())
               : float_space(data.actions.dim())}};
}

void write_main_file(const Trajectories& data, const fs::path& path) {
  hdf5::OutputFile file(path);
  // Minari has no optional columns: what we do not know is zero.
  const auto or_zeros = [&]<class T>(const Column<T>& column) {
    return column.empty() ? Column<T>(std::vector<T>(static_cast<std::size_t>(data.steps())))
                          : column;
  };
  const auto rewards = or_zeros(data.rewards);
  const auto terminals = or_zeros(data.terminals), timeouts = or_zeros(data.timeouts);
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const std::int64_t begin = data.offsets[i], end = data.offsets[i + 1];
    const std::string group = fmt::format("episode_{}", i);
    const auto part = [&](const auto& column) {
      return column.span().subspan(static_cast<std::size_t>(begin),
                                   static_cast<std::size_t>(end - begin));
    };
    // Minari also wants the observation after the last action, which we do not know.
    hdf5::write_observations(file, hdf5::join(group, kMinariLayout.observations), data.observations,
                             begin, end, true);
    hdf5::write_actions(file, hdf5::join(group, kMinariLayout.actions), data.actions, begin, end);
    file.write(hdf5::join(group, kMinariLayout.rewards), part(rewards), {end - begin});
    file.write_flags(hdf5::join(group, kMinariLayout.terminals), part(terminals));
    file.write_flags(hdf5::join(group, kMinariLayout.timeouts), part(timeouts));
    file.write_attribute(group, "id", i);
    file.write_attribute(group, kMinariLayout.length_attribute, end - begin);
    if (!data.labels.empty()) file.write_attribute(group, ReadOptions{}.label_key, data.labels[i]);
  }
  file.commit();
}

}  // namespace

std::string minari_dataset_name(const fs::path& folder) {
  std::string name = folder.filename().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '-';
  return name;
}

std::string changed_minari_metadata(const fs::path& path, const nlohmann::ordered_json& values) {
  auto metadata = nlohmann::ordered_json::parse(read_text(path), nullptr, false);
  if (!metadata.is_object())
    throw DataFormatError("'{}' holds no JSON object, expected the metadata of a Minari dataset",
                          path.string());
  metadata.update(values);
  return metadata.dump();
}

fs::path minari_data_folder(const StagedFolder& folder) {
  std::error_code error;
  fs::create_directory(folder.path() / "data", error);
  if (error) throw IoError("cannot write '{}': {}", folder.name(), error.message());
  return folder.path() / "data";
}

double minari_dataset_size(std::uintmax_t bytes) {
  return std::round(static_cast<double>(bytes) / 1e5) / 10;
}

fs::path minari_main_file(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& file : {folder / "data" / kMinariMainFile, folder / kMinariMainFile})
    if (fs::is_regular_file(file, ignored)) return file;
  return {};
}

nlohmann::ordered_json minari_space(const nlohmann::ordered_json& metadata, const char* key) {
  if (!metadata.is_object() || !metadata.contains(key)) return {};
  const auto& stored = metadata[key];
  return stored.is_string() ? parse_python_json(stored.get<std::string>()) : stored;
}

void state_minari_actions(Trajectories& data, const nlohmann::ordered_json& metadata) {
  if (!data.actions.is_discrete()) return;
  const auto space = minari_space(metadata, "action_space");
  if (!space.is_object() || !space.contains("n") || !space["n"].is_number_integer()) return;
  const auto count = space["n"].get<std::int64_t>();
  if (count > data.actions.count() && count <= kMaxActions)
    data.actions = Actions::discrete(data.actions.ints(), count);
}

Trajectories read_minari(const fs::path& path, const ReadOptions& options) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const fs::path main_file = is_folder ? minari_main_file(path) : path;
  if (const auto tables = is_folder ? minari_tables_folder(path) : fs::path();
      main_file.empty() && !tables.empty())
    return read_minari_tables(open_minari_tables(tables), options);
  if (main_file.empty())
    throw IoError("'{}' is a folder without data/{}, expected a Minari dataset", path.string(),
                  kMinariMainFile);
  const hdf5::InputFile file(main_file, options.pool);
  auto groups = hdf5::numbered_children(file, "", "episode_");
  std::vector<std::string> empty;
  if (options.lenient) empty = hdf5::remove_empty(file, groups, kMinariLayout);
  if (groups.empty())
    throw DataFormatError(
        "'{}' has no groups 'episode_0', 'episode_1', …, expected the episodes "
        "of a Minari dataset",
        main_file.string());
  Trajectories data = hdf5::read_steps(file, groups, kMinariLayout, options);
  data.ids = groups;
  if (!empty.empty()) data.provenance["empty_episodes"] = empty;
  state_minari_actions(data, metadata_in(main_file.parent_path() / kMinariMetadata));
  if (file.has_attribute("", found_mark(options.label_key))) {
    data.provenance["labels"] = kFoundLabels;
    return data;
  }
  if (const auto found = hdf5::read_group_labels(file, groups, options.label_key); found.size() > 0)
    set_labels(data, found, file.where(options.label_key));
  return data;
}

void write_minari(const Trajectories& data, const fs::path& path) {
  std::error_code ignored;
  if (fs::exists(path, ignored))
    throw IoError(
        "cannot write Minari dataset '{}': something of that name exists; remove it or "
        "choose another name",
        path.string());
  StagedFolder folder(path);
  const auto main_file = minari_data_folder(folder) / kMinariMainFile;
  write_main_file(data, main_file);
  json metadata = metadata_of(data, minari_dataset_name(folder.name()));
  metadata["dataset_size"] = minari_dataset_size(fs::file_size(main_file));
  write_text(main_file.parent_path() / kMinariMetadata, metadata.dump(2));
  folder.commit();
}

}  // namespace kindred
