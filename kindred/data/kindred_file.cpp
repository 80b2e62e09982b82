// Kindred's own file: the columns of Trajectories, each contiguous, so that reading one is mapping
// the file into memory.
#include <algorithm>
#include <functional>
#include <memory>

#include "kindred/core/error.h"
#include "kindred/data/checks.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_input.h"
#include "kindred/data/hdf5_output.h"
#include "kindred/data/mapping.h"
#include "kindred/data/sparse.h"

namespace kindred {
namespace {

using nlohmann::json;

constexpr std::int64_t kVersion = 1;

class KindredReader {
 public:
  KindredReader(const std::filesystem::path& path, const ReadOptions& options)
      : file_(path, options.pool),
        map_(std::make_shared<MappedFile>(path, file_.size())),
        lenient_(options.lenient),
        own_(options.own) {
    if (file_.text_attribute("", "format") != kKindredFormat)
      throw DataFormatError("'{}' has no attribute 'format' of '{}', expected a Kindred dataset",
                            path.string(), kKindredFormat);
    const auto version = file_.integer_attribute("", "version");
    if (!version || *version < 1)
      throw DataFormatError("'{}' has no valid attribute 'version', expected {}", path.string(),
                            kVersion);
    if (*version > kVersion)
      throw DataFormatError(
          "'{}' was written in version {} of Kindred's format, this Kindred "
          "reads up to version {}; use a newer Kindred",
          path.string(), *version, kVersion);
  }

  Trajectories read() const {
    Trajectories data;
    data.offsets = column<std::int64_t>("offsets", hdf5::Kind::kInteger).values;
    if (own_) check_offsets(data.offsets, steps_in_file());
    if (own_ && data.episodes() > 0 && std::ranges::is_sorted(data.offsets))  // else it is refused
      data.held = own_(data.offsets.span());
    data.observations = read_observations(data);
    check_offsets(data.offsets, data.steps());
    data.actions = read_actions(data);
    data.rewards = optional<float>("rewards", hdf5::Kind::kFloat);  // not all need be numbers
    data.terminals = optional<std::uint8_t>("terminals", hdf5::Kind::kInteger);
    data.timeouts = optional<std::uint8_t>("timeouts", hdf5::Kind::kInteger);
    data.actors = optional<std::int32_t>("actors", hdf5::Kind::kInteger);
    data.labels = optional<std::int32_t>("labels", hdf5::Kind::kInteger);
    data.oracle = optional<std::int32_t>("oracle", hdf5::Kind::kInteger);
    data.ids = strings("ids");
    data.label_names = strings("label_names");
    if (file_.has_dataset("observation_names"))
      data.observation_names = strings("observation_names");
    if (file_.has_dataset("action_names")) data.action_names = strings("action_names");
    data.provenance = parse("provenance");
    if (!data.provenance.is_object())
      throw DataFormatError("{} holds no JSON object", file_.where("provenance"));
    for (const auto* flags : {&data.terminals, &data.timeouts})
      if (std::ranges::any_of(*flags, [](auto flag) { return flag > 1; }))
        throw DataFormatError("'{}' has terminal or timeout flags other than 0 and 1",
                              file_.path().string());
    for (const auto* labels : {&data.labels, &data.oracle, &data.actors})
      if (std::ranges::any_of(*labels, [](auto label) { return label < 0; }))
        throw DataFormatError("'{}' has negative labels, expected 0, 1, 2, …",
                              file_.path().string());
    return data;
  }

 private:
  template <class T>
  struct Rows {
    Column<T> values;
    std::int64_t size = 1;  // numbers per row
  };

  /// Maps the dataset, or reads it when another tool has stored it in another way.
  template <class T>
  Rows<T> column(const std::string& name, hdf5::Kind kind) const {
    const auto dataset = file_.dataset(name);
    if (dataset.kind() != kind || dataset.shape().empty() || dataset.row_size() == 0)
      throw DataFormatError(
          "{} holds {} of shape {}, expected {} of shape [rows] or [rows, numbers]",
          dataset.where(), hdf5::to_string(dataset.kind()), hdf5::shape_text(dataset.shape()),
          hdf5::to_string(kind));
    const auto count = static_cast<std::size_t>(dataset.rows() * dataset.row_size());
    if (const auto offset = dataset.file_offset<T>(); offset && *map_) {
      if (*offset > file_.size() || count * sizeof(T) > file_.size() - *offset)
        throw DataFormatError("{} lies beyond the end of the file; it is truncated or corrupt",
                              dataset.where());
      const auto* first = reinterpret_cast<const T*>(map_->data() + *offset);
      return {Column<T>(std::span(first, count), map_), dataset.row_size()};
    }
    NewColumn<T> values(static_cast<std::int64_t>(count), false);
    dataset.read(0, dataset.rows(), values.data());
    return {values.column(), dataset.row_size()};
  }

  /// What `data` holds of it is looked at.
  Rows<float> floats(const std::string& name, const Trajectories& data) const {
    auto rows = column<float>(name, hdf5::Kind::kFloat);
    const auto first = data.held ? data.offsets[data.held->begin] : 0;
    const auto count =
        data.held ? data.offsets[data.held->end] - first : rows.values.size() / rows.size;
    if (!lenient_)
      check_finite(rows.values.slice(first * rows.size, count * rows.size).span(), first, rows.size,
                   file_.where(name));
    return rows;
  }

  std::int64_t steps_in_file() const { return file_.dataset("actions").rows(); }

  template <class T>
  Column<T> optional(const std::string& name, hdf5::Kind kind) const {
    return file_.has_dataset(name) ? column<T>(name, kind).values : Column<T>();
  }

  Observations read_observations(const Trajectories& data) const {
    if (file_.has_dataset("observation_table")) {
      const auto [table, dim] = floats("observation_table", {});
      return Observations::interned(
          table, dim, column<std::int32_t>("observation_index", hdf5::Kind::kInteger).values);
    }
    if (file_.dataset("observations").is_byte()) {
      const auto [rows, dim] = column<std::uint8_t>("observations", hdf5::Kind::kInteger);
      return Observations::dense(rows, dim);
    }
    const auto [rows, dim] = floats("observations", data);
    return Observations::dense(rows, dim);
  }

  Actions read_actions(const Trajectories& data) const {
    if (file_.dataset("actions").kind() == hdf5::Kind::kFloat) {
      const auto [rows, dim] = floats("actions", data);
      return Actions::continuous(rows, dim);
    }
    const auto count = file_.integer_attribute("actions", "action_count").value_or(0);
    if (count < 1 || count > kMaxActions)
      throw DataFormatError("{} has attribute 'action_count' of {}, expected 1 to {}",
                            file_.where("actions"), count, kMaxActions);
    return Actions::discrete(column<std::int32_t>("actions", hdf5::Kind::kInteger).values, count);
  }

  void check_offsets(const Column<std::int64_t>& offsets, std::int64_t steps) const {
    for (const auto offset : offsets)
      if (offset < 0 || offset > steps)
        throw DataFormatError("{} holds {}, expected numbers from 0 to the {} steps",
                              file_.where("offsets"), offset, steps);
  }

  json parse(const std::string& name) const {
    const auto texts = file_.dataset(name).read_strings();
    json value = texts.size() == 1 ? json::parse(texts[0], nullptr, false) : json();
    if (texts.size() != 1 || value.is_discarded())
      throw DataFormatError("{} holds no valid JSON; the file is corrupt", file_.where(name));
    return value;
  }

  std::vector<std::string> strings(const std::string& name) const {
    const json list = parse(name);
    if (!list.is_array() || !std::ranges::all_of(list, [](const json& v) { return v.is_string(); }))
      throw DataFormatError("{} holds no JSON list of texts", file_.where(name));
    return list.get<std::vector<std::string>>();
  }

  hdf5::InputFile file_;
  std::shared_ptr<const MappedFile> map_;  // until the last column that looks into it is gone
  bool lenient_;
  std::function<EpisodeRange(std::span<const std::int64_t>)> own_;
};

/// JSON on one line; bytes that are not UTF-8, which a file may have had in a name, are replaced.
std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Writes columns block by block, and says how far it is.
class ColumnWriter {
 public:
  ColumnWriter(hdf5::OutputFile& file, std::int64_t bytes,
               const std::function<void(double)>& progress)
      : file_(file), bytes_(std::max<std::int64_t>(bytes, 1)), progress_(progress) {}

  template <class T>
  void write(const std::string& name, const Column<T>& column, std::int64_t row_size = 0) {
    if (column.empty()) return;
    const auto width = std::max<std::int64_t>(row_size, 1);
    file_.write_blocks<T>(
        name,
        row_size ? std::vector{column.size() / row_size, row_size} : std::vector{column.size()},
        [&](std::int64_t begin, std::int64_t end, T* out) {
          std::copy(column.data() + begin * width, column.data() + end * width, out);
          written_ += (end - begin) * width * static_cast<std::int64_t>(sizeof(T));
          if (progress_)
            progress_(std::min(1.0, static_cast<double>(written_) / static_cast<double>(bytes_)));
        });
  }

 private:
  hdf5::OutputFile& file_;
  std::int64_t bytes_, written_ = 0;
  const std::function<void(double)>& progress_;
};

}  // namespace

Trajectories read_kindred(const std::filesystem::path& path, const ReadOptions& options) {
  return KindredReader(path, options).read();
}

void write_kindred(const Trajectories& data, const std::filesystem::path& path,
                   const std::function<void(double)>& progress) {
  hdf5::OutputFile file(path);
  ColumnWriter columns(file, data.bytes_in_memory(), progress);
  file.write_attribute("", "format", kKindredFormat);
  file.write_attribute("", "version", kVersion);
  columns.write("offsets", data.offsets);
  const auto& rows = data.observations;
  if (rows.is_interned()) {
    columns.write("observation_table", rows.table(), rows.dim());
    columns.write("observation_index", rows.index());
  } else if (rows.is_bytes()) {
    columns.write("observations", rows.bytes(), rows.dim());
  } else {
    columns.write("observations", rows.floats(), rows.dim());
  }
  if (data.actions.is_discrete()) {
    columns.write("actions", data.actions.ints());
    file.write_attribute("actions", "action_count", data.actions.count());
  } else {
    columns.write("actions", data.actions.floats(), data.actions.dim());
  }
  columns.write("rewards", data.rewards);
  columns.write("terminals", data.terminals);
  columns.write("timeouts", data.timeouts);
  columns.write("actors", data.actors);
  columns.write("labels", data.labels);
  columns.write("oracle", data.oracle);
  file.write_text("ids", dump(data.ids));
  file.write_text("label_names", dump(data.label_names));
  if (!data.observation_names.empty())
    file.write_text("observation_names", dump(data.observation_names));
  if (!data.action_names.empty()) file.write_text("action_names", dump(data.action_names));
  file.write_text("provenance", dump(data.provenance));
  file.commit();
}

}  // namespace kindred
