#include "kindred/data/named_arrays.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kindred/core/error.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_copy.h"
#include "kindred/data/hdf5_steps.h"
#include "kindred/data/npy.h"
#include "kindred/data/npz.h"
#include "kindred/data/parquet_table.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostArrays = 4096;  // a group for each of many episodes adds nothing new
constexpr int kDeepestGroup = 8;           // a damaged group can contain itself

class Hdf5Arrays final : public NamedArrays {
 public:
  Hdf5Arrays(const fs::path& path, std::shared_ptr<ThreadPool> pool)
      : NamedArrays(path), input_(path, std::move(pool)) {
    add_group("", 0);
  }

  std::int64_t rows_at_once(const NamedArray& array, std::int64_t usual) const override {
    return open(array).rows_at_once(usual, array.row_size());
  }
  void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
            float* out) const override {
    open(array).read(begin, end, out);
  }
  void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
            std::int64_t* out) const override {
    open(array).read(begin, end, out);
  }
  std::vector<std::string> read_text(const NamedArray& array, std::int64_t begin,
                                     std::int64_t end) const override {
    const auto texts = hdf5::words_of(input_, array.name).value_or(std::vector<std::string>());
    const auto width = array.row_size();
    return {texts.begin() + begin * width, texts.begin() + end * width};
  }

 private:
  /// Kept open: the next rows asked for are mostly of the same array.
  const hdf5::Dataset& open(const NamedArray& array) const {
    if (open_name_ != array.name) {
      open_.emplace(input_.dataset(array.name));
      open_name_ = array.name;
    }
    return *open_;
  }

  void add_group(const std::string& group, int depth) {
    if (depth > kDeepestGroup) return;
    for (const auto& child : input_.children(group)) {
      if (list_.size() >= kMostArrays) return;
      const auto name = hdf5::join(group, child);
      if (input_.has_group(name))
        add_group(name, depth + 1);
      else
        add_array(name);
    }
  }

  void add_array(const std::string& name) {
    try {
      const auto dataset = input_.dataset(name);
      list_.push_back({.name = name,
                       .kind = kind_of(dataset),
                       .shape = dataset.shape(),
                       .columns = {},
                       .is_byte = dataset.is_byte()});
    } catch (const DataFormatError&) {  // an array of another kind is no reason to refuse the rest
      if (hdf5::is_variable_text(input_, name))
        list_.push_back({.name = name,
                         .kind = ArrayKind::kText,
                         .shape = hdf5::shape_of(input_, name),
                         .columns = {}});
    }
  }

  static ArrayKind kind_of(const hdf5::Dataset& dataset) {
    if (!dataset.is_number()) return ArrayKind::kText;
    if (dataset.is_bool()) return ArrayKind::kBool;
    return dataset.kind() == hdf5::Kind::kFloat ? ArrayKind::kFloat : ArrayKind::kInteger;
  }

  hdf5::InputFile input_;
  mutable std::optional<hdf5::Dataset> open_;
  mutable std::string open_name_;
};

/// An archive gives an array whole, so the last one is kept for the rows asked for next.
class NpzArrays final : public NamedArrays {
 public:
  explicit NpzArrays(const fs::path& path) : NamedArrays(path), archive_(path) {
    for (const auto& entry : archive_.entries())
      if (entry.name.ends_with(kSuffix) && list_.size() < kMostArrays)
        add(entry, entry.name.substr(0, entry.name.size() - kSuffix.size()));
  }

  void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
            float* out) const override {
    copy_rows(array, begin, end, floats_, out);
  }
  void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
            std::int64_t* out) const override {
    copy_rows(array, begin, end, integers_, out);
  }
  std::vector<std::string> read_text(const NamedArray& array, std::int64_t begin,
                                     std::int64_t end) const override {
    const auto texts = open(array.name).read_text();
    const auto width = array.row_size();
    return {texts.begin() + begin * width, texts.begin() + end * width};
  }

 private:
  static constexpr std::string_view kSuffix = ".npy";

  template <class T>
  struct Kept {
    std::string name;
    StepValues<T> values;
  };

  void add(const zip::Entry& entry, const std::string& name) {
    try {
      const npy::ArrayReader array(archive_, entry, where(name));
      list_.push_back({.name = name,
                       .kind = array.is_text()    ? ArrayKind::kText
                               : array.is_float() ? ArrayKind::kFloat
                               : array.is_bool()  ? ArrayKind::kBool
                                                  : ArrayKind::kInteger,
                       .shape = array.shape(),
                       .columns = {},
                       .is_byte = array.is_byte()});
    } catch (const DataFormatError&) {  // an array of another kind is no reason to refuse the rest
    }
  }

  npy::ArrayReader open(const std::string& name) const {
    return {archive_, *archive_.find(name + std::string(kSuffix)), where(name)};
  }

  template <class T>
  void copy_rows(const NamedArray& array, std::int64_t begin, std::int64_t end, Kept<T>& kept,
                 T* out) const {
    if (kept.name != array.name) {
      kept.values = {};  // before there are two
      kept.values = open(array.name).read<T>();
      kept.name = array.name;
    }
    const auto width = array.row_size();
    std::copy(kept.values.begin() + begin * width, kept.values.begin() + end * width, out);
  }

  zip::Archive archive_;
  mutable Kept<float> floats_;
  mutable Kept<std::int64_t> integers_;
};

/// The columns of a Parquet table, which may lie in several files.
class ParquetArrays final : public NamedArrays {
 public:
  ParquetArrays(const fs::path& path, std::vector<fs::path> files,
                const std::map<std::string, std::vector<std::string>>& names)
      : NamedArrays(path), table_(open_parquet_table(std::move(files))) {
    for (const auto& [name, kind, is_list] : table_->columns()) {
      if (kind == ParquetKind::kOther) continue;
      std::vector<std::int64_t> shape{table_->rows()};
      if (is_list) shape.push_back(table_->row_size(name));
      list_.push_back(
          {.name = name, .kind = kind_of(kind), .shape = std::move(shape), .columns = {}});
      const auto named = names.find(name);
      if (named != names.end() && std::ssize(named->second) == list_.back().row_size())
        list_.back().columns = named->second;
    }
    std::ranges::sort(list_, {}, &NamedArray::name);
  }

  Place place(const NamedArray& array, std::int64_t row) const override {
    const auto block = std::ranges::upper_bound(table_->blocks(), row, {}, &ParquetBlock::end);
    return {table_->where(block->file, array.name), row - block->begin + block->row_in_file};
  }
  void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
            float* out) const override {
    table_->read(array.name, begin, end, out);
  }
  void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
            std::int64_t* out) const override {
    table_->read(array.name, begin, end, out);
  }
  std::vector<std::string> read_text(const NamedArray& array, std::int64_t begin,
                                     std::int64_t end) const override {
    return table_->read_texts(array.name, begin, end);
  }

 private:
  static ArrayKind kind_of(ParquetKind kind) {
    switch (kind) {
      case ParquetKind::kFloat:
        return ArrayKind::kFloat;
      case ParquetKind::kInteger:
        return ArrayKind::kInteger;
      case ParquetKind::kBool:
        return ArrayKind::kBool;
      default:
        return ArrayKind::kText;
    }
  }

  std::unique_ptr<const ParquetTable> table_;
};

}  // namespace

std::string_view to_string(ArrayKind kind) {
  switch (kind) {
    case ArrayKind::kFloat:
      return "floats";
    case ArrayKind::kInteger:
      return "integers";
    case ArrayKind::kBool:
      return "booleans";
    default:
      return "text";
  }
}

std::int64_t NamedArray::row_size() const {
  std::int64_t size = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) size *= shape[i];
  return size;
}

std::string NamedArray::description() const {
  return fmt::format("{} [{}] of {}", name, fmt::join(shape, ", "), to_string(kind));
}

NamedArrays::NamedArrays(const fs::path& path) : file_(fmt::format("'{}'", path.string())) {}

const NamedArray* NamedArrays::find(std::string_view name) const {
  const auto found = std::ranges::find(list_, name, &NamedArray::name);
  return found == list_.end() ? nullptr : &*found;
}

std::string NamedArrays::where(std::string_view name) const {
  return fmt::format("{} array '{}'", file_, name);
}

std::unique_ptr<const NamedArrays> open_named_arrays(const fs::path& path,
                                                     std::shared_ptr<ThreadPool> pool) {
  if (is_npz(path)) return std::make_unique<NpzArrays>(path);
  if (is_parquet(path)) return open_parquet_arrays(path, parquet_files(path));
  return std::make_unique<Hdf5Arrays>(path, std::move(pool));
}

std::unique_ptr<const NamedArrays> open_parquet_arrays(
    const fs::path& path, std::vector<fs::path> files,
    const std::map<std::string, std::vector<std::string>>& names) {
  return std::make_unique<ParquetArrays>(path, std::move(files), names);
}

}  // namespace kindred
