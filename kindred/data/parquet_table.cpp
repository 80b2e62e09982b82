#include "kindred/data/parquet_table.h"

#include <arrow/util/float16.h>
#include <fcntl.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

#include "kindred/core/descriptor.h"
#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/parquet_arrow.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBatchRows = 1 << 15;

/// What values are stored as, where an extension gives them another name.
const arrow::DataType& storage(const arrow::DataType& type) {
  if (type.id() != arrow::Type::EXTENSION) return type;
  return storage(*static_cast<const arrow::ExtensionType&>(type).storage_type());
}

bool is_list(const arrow::DataType& type) {
  const auto id = storage(type).id();
  return id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST ||
         id == arrow::Type::FIXED_SIZE_LIST;
}

ParquetKind kind_of(const arrow::DataType& any) {
  const auto& type = storage(any);
  if (is_list(type)) return kind_of(*type.field(0)->type());
  if (arrow::is_floating(type.id())) return ParquetKind::kFloat;
  if (arrow::is_integer(type.id())) return ParquetKind::kInteger;
  if (type.id() == arrow::Type::BOOL) return ParquetKind::kBool;
  if (arrow::is_string(type.id()) || arrow::is_large_binary_like(type.id()))
    return ParquetKind::kText;
  if (type.id() == arrow::Type::DICTIONARY)
    return kind_of(*static_cast<const arrow::DictionaryType&>(type).value_type());
  return ParquetKind::kOther;
}

std::shared_ptr<arrow::Array> stored(std::shared_ptr<arrow::Array> array) {
  if (array->type_id() != arrow::Type::EXTENSION) return array;
  return stored(static_cast<const arrow::ExtensionArray&>(*array).storage());
}

/// Rows of one column on their way out: where they are, for messages, and what is expected.
struct ColumnPlace {
  std::string where;
  std::int64_t row = 0;       ///< Of the array's first row in its file.
  std::int64_t row_size = 1;  ///< -1: any.
};

/// The items of all rows of a list, after a look at how many each has.
template <class List>
std::shared_ptr<arrow::Array> items_of(const arrow::Array& array, std::int64_t wanted,
                                       const ColumnPlace& place) {
  const auto& list = static_cast<const List&>(array);
  for (std::int64_t i = 0; wanted >= 0 && i < list.length(); ++i)
    if (list.value_length(i) != wanted)
      throw DataFormatError(
          "{} has {} numbers in row {}, expected {} as in the first row; pad or remove that "
          "episode",
          place.where, static_cast<std::int64_t>(list.value_length(i)), place.row + i, wanted);
  const auto begin = static_cast<std::int64_t>(list.value_offset(0));
  const auto end = static_cast<std::int64_t>(list.value_offset(list.length()));
  return list.values()->Slice(begin, end - begin);
}

void refuse_nulls(const arrow::Array& array, std::int64_t per_row, const ColumnPlace& place) {
  if (array.null_count() == 0) return;
  for (std::int64_t i = 0; i < array.length(); ++i)
    if (array.IsNull(i))
      throw DataFormatError("{} is null in row {}, expected a value in every row", place.where,
                            place.row + i / std::max<std::int64_t>(per_row, 1));
}

/// The numbers or texts of `array`, lists of lists flattened_items; no null is among them.
std::shared_ptr<arrow::Array> flattened_items(std::shared_ptr<arrow::Array> array,
                                              const ColumnPlace& place) {
  array = stored(std::move(array));
  std::int64_t wanted = place.row_size, per_row = 1;
  refuse_nulls(*array, per_row, place);
  while (is_list(*array->type()) && array->length() > 0) {
    const bool innermost = !is_list(*storage(*array->type()).field(0)->type());
    // Only a plain list says how many numbers a row has; in a matrix the first row's shape does.
    const auto size = per_row == 1 && innermost ? wanted : -1;
    const auto rows = array->length();
    if (array->type_id() == arrow::Type::LIST)
      array = items_of<arrow::ListArray>(*array, size, place);
    else if (array->type_id() == arrow::Type::LARGE_LIST)
      array = items_of<arrow::LargeListArray>(*array, size, place);
    else
      array = items_of<arrow::FixedSizeListArray>(*array, size, place);
    array = stored(std::move(array));
    per_row *= rows > 0 ? array->length() / rows : 1;
    refuse_nulls(*array, per_row, place);
  }
  return array;
}

[[noreturn]] void refuse_value(const ColumnPlace& place, std::int64_t row, double value) {
  throw DataFormatError("{} has {} in row {}, expected whole numbers", place.where, value,
                        place.row + row);
}

template <class T, class Array>
void convert_column(const arrow::Array& any, const ColumnPlace& place, T* out) {
  const auto& array = static_cast<const Array&>(any);
  for (std::int64_t i = 0; i < array.length(); ++i) {
    auto value = [&] {
      if constexpr (std::is_same_v<Array, arrow::HalfFloatArray>)
        return arrow::util::Float16::FromBits(array.Value(i)).ToFloat();
      else
        return array.Value(i);
    }();
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<decltype(value)>)
      if (std::abs(value) > 9e15 || std::trunc(value) != value)
        refuse_value(place, i / std::max<std::int64_t>(place.row_size, 1),
                     static_cast<double>(value));
    out[i] = static_cast<T>(value);
  }
}

template <class T>
void convert_column_of_any_type(const arrow::Array& array, const ColumnPlace& place, T* out) {
  switch (array.type_id()) {
    case arrow::Type::FLOAT:
      return convert_column<T, arrow::FloatArray>(array, place, out);
    case arrow::Type::DOUBLE:
      return convert_column<T, arrow::DoubleArray>(array, place, out);
    case arrow::Type::HALF_FLOAT:
      return convert_column<T, arrow::HalfFloatArray>(array, place, out);
    case arrow::Type::INT64:
      return convert_column<T, arrow::Int64Array>(array, place, out);
    case arrow::Type::INT32:
      return convert_column<T, arrow::Int32Array>(array, place, out);
    case arrow::Type::INT16:
      return convert_column<T, arrow::Int16Array>(array, place, out);
    case arrow::Type::INT8:
      return convert_column<T, arrow::Int8Array>(array, place, out);
    case arrow::Type::UINT64:
      return convert_column<T, arrow::UInt64Array>(array, place, out);
    case arrow::Type::UINT32:
      return convert_column<T, arrow::UInt32Array>(array, place, out);
    case arrow::Type::UINT16:
      return convert_column<T, arrow::UInt16Array>(array, place, out);
    case arrow::Type::UINT8:
      return convert_column<T, arrow::UInt8Array>(array, place, out);
    case arrow::Type::BOOL:
      return convert_column<T, arrow::BooleanArray>(array, place, out);
    default:
      throw DataFormatError("{} holds values of type {}, expected numbers", place.where,
                            array.type()->ToString());
  }
}

std::string text_of(const arrow::Array& array, std::int64_t i, const ColumnPlace& place) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return static_cast<const arrow::BinaryArray&>(array).GetString(i);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return static_cast<const arrow::LargeBinaryArray&>(array).GetString(i);
    case arrow::Type::DICTIONARY: {
      const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
      return text_of(*coded.dictionary(), coded.GetValueIndex(i), place);
    }
    default:
      throw DataFormatError("{} holds values of type {}, expected text", place.where,
                            array.type()->ToString());
  }
}

/// The items of row i, which may be a list of texts.
std::string joined_text(const std::shared_ptr<arrow::Array>& rows, std::int64_t i,
                        const ColumnPlace& place) {
  const ColumnPlace at{place.where, place.row + i, -1};
  const auto items = flattened_items(rows->Slice(i, 1), at);
  std::vector<std::string> texts;
  if (!is_list(*items->type()))
    for (std::int64_t item = 0; item < items->length(); ++item)
      texts.push_back(text_of(*items, item, at));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

namespace parquet_file {

void check(const arrow::Status& status, const fs::path& file) {
  if (status.ok()) return;
  const std::string text = status.message();
  throw DataFormatError("'{}' is damaged or no Parquet file: {}", file.string(),
                        printable(text.substr(0, text.find('\n'))));
}

std::unique_ptr<parquet::arrow::FileReader> open(const fs::path& file) {
  const Descriptor readable(file, O_RDONLY);  // says what is wrong in the system's words
  return guarded(file, [&] {
    parquet::arrow::FileReaderBuilder builder;
    check(builder.OpenFile(file.string(), false), file);
    parquet::ArrowReaderProperties properties(false);
    properties.set_batch_size(kBatchRows);
    std::unique_ptr<parquet::arrow::FileReader> reader;
    check(builder.properties(properties)->Build(&reader), file);
    return reader;
  });
}

}  // namespace parquet_file

struct ParquetTable::Files {
  std::vector<fs::path> paths;
  std::vector<std::int64_t> first_block;  ///< [files + 1]
  std::vector<ParquetBlock> blocks;
  std::vector<ParquetColumn> columns;
  std::shared_ptr<const arrow::KeyValueMetadata> notes;
  std::map<std::string, std::int64_t> row_sizes;
  std::size_t opened = std::numeric_limits<std::size_t>::max();
  std::unique_ptr<parquet::arrow::FileReader> reader;

  parquet::arrow::FileReader& open(std::size_t file) {
    if (opened != file) {
      reader = parquet_file::open(paths[file]);
      opened = file;
    }
    return *reader;
  }

  std::int64_t rows() const { return blocks.empty() ? 0 : blocks.back().end; }

  void list_blocks(std::size_t file) {
    first_block.push_back(std::ssize(blocks));
    const auto& metadata = *open(file).parquet_reader()->metadata();
    std::int64_t row = 0;
    for (int group = 0; group < metadata.num_row_groups(); ++group) {
      const auto count = metadata.RowGroup(group)->num_rows();
      if (count < 0 || count > std::numeric_limits<std::int32_t>::max())
        throw DataFormatError("'{}' is damaged: a row group has {} rows", paths[file].string(),
                              count);
      blocks.push_back({file, rows(), rows() + count, row});
      row += count;
    }
  }

  void list_columns() {
    std::shared_ptr<arrow::Schema> schema;
    parquet_file::check(open(0).GetSchema(&schema), paths[0]);
    notes = open(0).parquet_reader()->metadata()->key_value_metadata();
    for (const auto& field : schema->fields())
      columns.push_back({field->name(), kind_of(*field->type()), is_list(*field->type())});
  }

  /// The leaves of a column in an open file.
  std::vector<int> leaves(std::size_t file, const std::string& column, const std::string& where) {
    std::vector<int> found;
    const auto& schema = *open(file).parquet_reader()->metadata()->schema();
    for (int i = 0; i < schema.num_columns(); ++i)
      if (schema.GetColumnRoot(i)->name() == column) found.push_back(i);
    if (found.empty())
      throw DataFormatError("{} is missing, though the first file of the table has it", where);
    return found;
  }

  /// Calls use(array, place) with the pieces of one block's rows [begin, end) of the table.
  template <class Use>
  void read_block(std::int64_t index, const std::string& column, const std::string& where,
                  std::int64_t begin, std::int64_t end, Use use) {
    const auto& block = blocks[static_cast<std::size_t>(index)];
    const auto& path = paths[block.file];
    const int group = static_cast<int>(index - first_block[block.file]);
    parquet_file::guarded(path, [&] {
      auto batches = parquet_file::take(
          open(block.file).GetRecordBatchReader({group}, leaves(block.file, column, where)), path);
      std::int64_t row = block.begin;
      while (row < std::min(end, block.end)) {
        std::shared_ptr<arrow::RecordBatch> batch;
        parquet_file::check(batches->ReadNext(&batch), path);
        if (!batch || batch->num_rows() == 0)
          throw DataFormatError("{} ends before row {}, expected {} rows in its row group", where,
                                row - block.begin + block.row_in_file, block.end - block.begin);
        const auto from = std::max(begin, row), to = std::min(end, row + batch->num_rows());
        if (from < to)
          use(batch->column(0)->Slice(from - row, to - from),
              ColumnPlace{where, from - block.begin + block.row_in_file, 1});
        row += batch->num_rows();
      }
    });
  }
};

bool has_parquet() { return true; }

ParquetTable::ParquetTable(std::vector<fs::path> files) : files_(std::make_unique<Files>()) {
  if (files.empty()) throw InvalidArgument("a table needs at least one Parquet file");
  files_->paths = std::move(files);
  for (std::size_t file = 0; file < files_->paths.size(); ++file)
    parquet_file::guarded(files_->paths[file], [&] { files_->list_blocks(file); });
  parquet_file::guarded(files_->paths[0], [&] { files_->list_columns(); });
}

ParquetTable::~ParquetTable() = default;

std::int64_t ParquetTable::rows() const { return files_->rows(); }
const std::vector<fs::path>& ParquetTable::files() const { return files_->paths; }
const std::vector<ParquetBlock>& ParquetTable::blocks() const { return files_->blocks; }
const std::vector<ParquetColumn>& ParquetTable::columns() const { return files_->columns; }

const ParquetColumn* ParquetTable::find(const std::string& name) const {
  const auto found = std::ranges::find(files_->columns, name, &ParquetColumn::name);
  return found == files_->columns.end() ? nullptr : &*found;
}

std::optional<std::string> ParquetTable::note(const std::string& key) const {
  if (!files_->notes || !files_->notes->Contains(key)) return std::nullopt;
  return *files_->notes->Get(key);
}

std::string ParquetTable::where(std::size_t file, const std::string& column) const {
  return fmt::format("'{}' column '{}'", files_->paths[file].string(), printable(column));
}

std::int64_t ParquetTable::row_size(const std::string& column) const {
  const auto* found = find(column);
  if (!found) throw DataFormatError("{} is missing", where(0, column));
  if (!found->list || rows() == 0) return 1;
  const auto [at, fresh] = files_->row_sizes.try_emplace(column, 1);
  if (!fresh) return at->second;
  const auto first = std::ranges::find_if(
      files_->blocks, [](const auto& block) { return block.end > block.begin; });
  files_->read_block(first - files_->blocks.begin(), column, where(first->file, column), 0, 1,
                     [&](const auto& array, ColumnPlace place) {
                       place.row_size = -1;
                       at->second = flattened_items(array, place)->length();
                     });
  return at->second;
}

template <class T>
void ParquetTable::read(const std::string& column, std::int64_t begin, std::int64_t end,
                        T* out) const {
  const auto size = row_size(column);
  for (std::size_t i = 0; i < files_->blocks.size(); ++i) {
    const auto& block = files_->blocks[i];
    if (block.end <= begin || block.begin >= end || block.end == block.begin) continue;
    files_->read_block(static_cast<std::int64_t>(i), column, where(block.file, column), begin, end,
                       [&](const auto& array, ColumnPlace place) {
                         place.row_size = size;
                         const auto items = flattened_items(array, place);
                         if (items->length() != array->length() * size)
                           throw DataFormatError(
                               "{} has rows of another size after row {}, expected {} numbers in "
                               "each as in the first row",
                               place.where, place.row, size);
                         convert_column_of_any_type(*items, place, out);
                         out += items->length();
                       });
  }
}

template void ParquetTable::read(const std::string&, std::int64_t, std::int64_t, float*) const;
template void ParquetTable::read(const std::string&, std::int64_t, std::int64_t, double*) const;
template void ParquetTable::read(const std::string&, std::int64_t, std::int64_t,
                                 std::int64_t*) const;

std::vector<std::string> ParquetTable::read_texts(const std::string& column, std::int64_t begin,
                                                  std::int64_t end) const {
  if (!find(column)) throw DataFormatError("{} is missing", where(0, column));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < files_->blocks.size(); ++i) {
    const auto& block = files_->blocks[i];
    if (block.end <= begin || block.begin >= end || block.end == block.begin) continue;
    files_->read_block(static_cast<std::int64_t>(i), column, where(block.file, column), begin, end,
                       [&](const auto& array, const ColumnPlace& place) {
                         for (std::int64_t row = 0; row < array->length(); ++row)
                           texts.push_back(joined_text(array, row, place));
                       });
  }
  return texts;
}

}  // namespace kindred
