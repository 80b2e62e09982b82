#include "kindred/data/arrow_file.h"

#include <arrow/ipc/api.h>
#include <fcntl.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "kindred/core/descriptor.h"
#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/arrow_values.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/parquet_arrow.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

/// A file of either format: its schema, its rows, and one column of the top at a time.
class TableSource {
 public:
  virtual ~TableSource() = default;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  virtual std::int64_t rows() const = 0;
  virtual std::shared_ptr<arrow::ChunkedArray> column(int index) const = 0;
};

class ArrowSource final : public TableSource {
 public:
  explicit ArrowSource(const fs::path& path)
      : path_(path), file_(parquet_file::take(arrow::io::ReadableFile::Open(path.string()), path)) {
    auto reader = open({});
    schema_ = reader->schema();
    rows_ = parquet_file::take(reader->CountRows(), path_);
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::int64_t rows() const override { return rows_; }
  std::shared_ptr<arrow::ChunkedArray> column(int index) const override {
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.included_fields = {index};
    options.use_threads = false;
    const auto table = parquet_file::take(open(options)->ToTable(), path_);
    parquet_file::check(table->ValidateFull(), path_);  // sizes inside a damaged file can be wrong
    return table->column(0);
  }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> open(
      const arrow::ipc::IpcReadOptions& options) const {
    return parquet_file::take(arrow::ipc::RecordBatchFileReader::Open(file_, options), path_);
  }

  fs::path path_;
  std::shared_ptr<arrow::io::ReadableFile> file_;
  std::shared_ptr<arrow::Schema> schema_;
  std::int64_t rows_ = 0;
};

class ParquetSource final : public TableSource {
 public:
  explicit ParquetSource(const fs::path& path) : path_(path), reader_(parquet_file::open(path)) {
    parquet_file::check(reader_->GetSchema(&schema_), path_);
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::int64_t rows() const override { return reader_->parquet_reader()->metadata()->num_rows(); }
  std::shared_ptr<arrow::ChunkedArray> column(int index) const override {
    std::shared_ptr<arrow::ChunkedArray> read;
    parquet_file::check(reader_->ReadColumn(index, &read), path_);
    return read;
  }

 private:
  fs::path path_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
};

std::unique_ptr<const TableSource> open_source(const fs::path& path) {
  const Descriptor readable(path, O_RDONLY);  // says what is wrong in the system's words
  if (is_parquet(path)) return std::make_unique<ParquetSource>(path);
  return std::make_unique<ArrowSource>(path);
}

/// Numbers in each row of a list whose type says so; 1 of what is no list, none where rows differ.
std::optional<std::int64_t> stated_row_size(const arrow::DataType& type) {
  if (!is_list(type)) return 1;
  if (type.id() != arrow::Type::FIXED_SIZE_LIST) return std::nullopt;
  const auto inner = stated_row_size(*type.field(0)->type());
  if (!inner) return std::nullopt;
  return *inner * static_cast<const arrow::FixedSizeListType&>(type).list_size();
}

bool holds_bytes(const arrow::DataType& type) {
  if (is_list(type)) return holds_bytes(*type.field(0)->type());
  return type.id() == arrow::Type::UINT8 || type.id() == arrow::Type::BOOL;
}

void list_leaves(const arrow::FieldVector& fields, const std::vector<std::string>& inside,
                 std::vector<ArrowColumn>& columns) {
  for (const auto& field : fields) {
    const auto& type = *field->type();
    auto path = inside;
    path.push_back(field->name());
    if (type.id() == arrow::Type::STRUCT) {
      list_leaves(type.fields(), path, columns);
      continue;
    }
    const auto size = stated_row_size(type);
    columns.push_back({.path = std::move(path),
                       .kind = size ? kind_of(type) : ParquetKind::kOther,
                       .list = is_list(type),
                       .row_size = size.value_or(1),
                       .is_byte = holds_bytes(type)});
  }
}

/// What a struct holds under the name that path[depth] is, and so on; null where it holds nothing.
std::shared_ptr<arrow::Array> descend(std::shared_ptr<arrow::Array> array,
                                      const std::vector<std::string>& path, const fs::path& file) {
  for (std::size_t depth = 1; depth < path.size(); ++depth) {
    if (array->type_id() != arrow::Type::STRUCT) return nullptr;
    const auto& parts = static_cast<const arrow::StructArray&>(*array);
    const int index = parts.struct_type()->GetFieldIndex(path[depth]);
    if (index < 0) return nullptr;
    array = parquet_file::take(parts.GetFlattenedField(index), file);
  }
  return array;
}

/// A file and the column of it that was read last.
struct OpenFile {
  fs::path path;
  std::unique_ptr<const TableSource> source;
  std::vector<ArrowColumn> columns;
  int kept_index = -1;  ///< Parts of one struct are mostly asked for one after the other.
  std::shared_ptr<arrow::ChunkedArray> kept;

  /// Calls use(array, its first row) with the pieces of rows [begin, end).
  template <class Use>
  void read(const ArrowColumn& column, const std::string& where, std::int64_t begin,
            std::int64_t end, Use use) {
    parquet_file::guarded(path, [&] {
      const int index = source->schema()->GetFieldIndex(column.path[0]);
      if (index >= 0 && index != kept_index) {
        kept = source->column(index);
        kept_index = index;
      }
      std::int64_t row = begin;
      const auto pieces =
          index < 0 ? arrow::ArrayVector() : kept->Slice(begin, end - begin)->chunks();
      for (const auto& piece : pieces) {
        const auto array = descend(piece, column.path, path);
        if (!array) break;
        use(array, row);
        row += array->length();
      }
      if (row != end)
        throw DataFormatError("{} is missing or has fewer than {} rows, unlike in other episodes",
                              where, end);
    });
  }
};

class ArrowFileOfArrow final : public ArrowFile {
 public:
  explicit ArrowFileOfArrow(const fs::path& path) {
    file_->path = path;
    parquet_file::guarded(path, [&] {
      file_->source = open_source(path);
      list_leaves(file_->source->schema()->fields(), {}, file_->columns);
    });
  }

  std::int64_t rows() const override { return file_->source->rows(); }
  const std::vector<ArrowColumn>& columns() const override { return file_->columns; }

  std::string where(const ArrowColumn& column) const override {
    return fmt::format("'{}' column '{}'", file_->path.string(),
                       printable(fmt::format("{}", fmt::join(column.path, "/"))));
  }

  void read(const ArrowColumn& column, std::int64_t begin, std::int64_t end,
            float* out) const override {
    read_numbers(column, begin, end, out);
  }
  void read(const ArrowColumn& column, std::int64_t begin, std::int64_t end,
            std::int64_t* out) const override {
    read_numbers(column, begin, end, out);
  }

  std::vector<std::string> read_texts(const ArrowColumn& column, std::int64_t begin,
                                      std::int64_t end) const override {
    const auto name = where(column);
    std::vector<std::string> texts;
    file_->read(column, name, begin, end, [&](const auto& array, std::int64_t row) {
      for (std::int64_t i = 0; i < array->length(); ++i)
        texts.push_back(joined_text(array, i, {name, row, 1}));
    });
    return texts;
  }

 private:
  template <class T>
  void read_numbers(const ArrowColumn& column, std::int64_t begin, std::int64_t end, T* out) const {
    const auto name = where(column);
    file_->read(column, name, begin, end, [&](const auto& array, std::int64_t row) {
      const ColumnPlace place{name, row, column.row_size};
      const auto items = flattened_items(array, place);
      if (items->length() != array->length() * column.row_size)
        throw DataFormatError(
            "{} has {} numbers in {} rows, expected {} in each as in other episodes", name,
            items->length(), array->length(), column.row_size);
      convert_column_of_any_type(*items, place, out);
      out += items->length();
    });
  }

  std::unique_ptr<OpenFile> file_ = std::make_unique<OpenFile>();
};

std::unique_ptr<const ArrowFile> open_file_by_arrow(const fs::path& path) {
  return std::make_unique<ArrowFileOfArrow>(path);
}

const LateFunctionIs is_open_arrow_file(open_arrow_file, &open_file_by_arrow);

}  // namespace
}  // namespace kindred
