#include "kindred/data/parquet_copy.h"

#include <arrow/ipc/api.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/io_util.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <system_error>
#include <type_traits>
#include <utility>

#include "kindred/core/error.h"
#include "kindred/core/staged_file.h"
#include "kindred/core/words.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/parquet_arrow.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using parquet_file::check;
using parquet_file::guarded;
using parquet_file::take;

/// Calls `action`, which writes; where it cannot, says why in the system's words.
template <class Action>
void writing(const fs::path& target, Action action) {
  arrow::Status status;
  try {
    status = action();
  } catch (const parquet::ParquetStatusException& error) {
    status = error.status();
  }
  if (status.ok()) return;
  const int number = arrow::internal::ErrnoFromStatus(status);
  const auto reason = number == 0 ? status.message() : std::generic_category().message(number);
  throw IoError("cannot write '{}': {}", settled(target), reason);
}

/// A column and its file, for messages.
struct ColumnName {
  const std::string& column;
  const fs::path& file;

  [[noreturn]] void refuse(const arrow::DataType& type, const char* expected) const {
    throw DataFormatError("'{}' column '{}' holds {}, expected {}", file.string(),
                          printable(column), printable(type.ToString()), expected);
  }
};

/// A column of numbers, or of lists of them to any depth, with numbers of its own to write into.
class OwnNumbers {
 public:
  OwnNumbers(const arrow::Array& array, const ColumnName& name)
      : name_(name), column_(array.data()->Copy()), numbers_(column_) {
    while (is_list_type(numbers_->type->id())) {
      lists_.push_back(numbers_);
      numbers_ = numbers_->child_data[0] = numbers_->child_data[0]->Copy();
    }
    if (const auto& shared = numbers_->buffers.size() > 1 ? numbers_->buffers[1] : nullptr)
      numbers_->buffers[1] = take(shared->CopySlice(0, shared->size()), name_.file);
  }

  void add(std::int64_t row, std::int64_t by) {
    if (by == 0) return;
    const auto [begin, end] = items(row);
    change(begin, end, [&](auto& value, std::int64_t) {
      using T = std::remove_reference_t<decltype(value)>;
      if constexpr (std::is_integral_v<T>) require_room<T>(static_cast<std::int64_t>(value) + by);
      value = static_cast<T>(value + static_cast<T>(by));
    });
  }

  void set(std::int64_t row, std::span<const double> to) {
    if (to.empty()) return;
    const auto [begin, end] = items(row);
    if (end - begin != std::ssize(to))
      throw DataFormatError("'{}' column '{}' has {} numbers in a row, expected {}",
                            name_.file.string(), printable(name_.column), end - begin, to.size());
    change(begin, end, [&](auto& value, std::int64_t i) {
      value =
          static_cast<std::remove_reference_t<decltype(value)>>(to[static_cast<std::size_t>(i)]);
    });
  }

  std::shared_ptr<arrow::Array> column() const { return arrow::MakeArray(column_); }

 private:
  static bool is_list_type(arrow::Type::type type) {
    return type == arrow::Type::LIST || type == arrow::Type::LARGE_LIST ||
           type == arrow::Type::FIXED_SIZE_LIST;
  }

  /// The numbers [begin, end) of all that are in a row.
  std::pair<std::int64_t, std::int64_t> items(std::int64_t row) const {
    auto begin = row, end = row + 1;
    for (const auto& list : lists_) {
      if (list->type->id() == arrow::Type::FIXED_SIZE_LIST) {
        const auto size = static_cast<const arrow::FixedSizeListType&>(*list->type).list_size();
        begin = (list->offset + begin) * size;
        end = (list->offset + end) * size;
      } else if (list->type->id() == arrow::Type::LIST) {
        const auto* offsets = list->GetValues<std::int32_t>(1);
        begin = offsets[begin];
        end = offsets[end];
      } else {
        const auto* offsets = list->GetValues<std::int64_t>(1);
        begin = offsets[begin];
        end = offsets[end];
      }
    }
    return {begin, end};
  }

  /// A column of bytes cannot number thousands.
  template <class T>
  void require_room(std::int64_t value) const {
    if (value < std::int64_t{std::numeric_limits<T>::min()} ||
        static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)) >
            std::uint64_t{std::numeric_limits<T>::max()})
      throw DataFormatError("'{}' column '{}' holds {}, which has no room for {}",
                            name_.file.string(), printable(name_.column),
                            numbers_->type->ToString(), value);
  }

  template <class T, class Action>
  void change_as(std::int64_t begin, std::int64_t end, Action action) {
    T* values = numbers_->GetMutableValues<T>(1);
    for (auto i = begin; i < end; ++i) action(values[i], i - begin);
  }

  /// Calls action(a number, its place) for each of them, in the type they have.
  template <class Action>
  void change(std::int64_t begin, std::int64_t end, Action action) {
    switch (numbers_->type->id()) {
      case arrow::Type::BOOL:
        for (auto i = begin; i < end; ++i) {
          auto* bits = numbers_->buffers[1]->mutable_data();
          int flag = arrow::bit_util::GetBit(bits, numbers_->offset + i);
          action(flag, i - begin);
          require_room<bool>(flag);
          arrow::bit_util::SetBitTo(bits, numbers_->offset + i, flag != 0);
        }
        return;
      case arrow::Type::INT8:
        return change_as<std::int8_t>(begin, end, action);
      case arrow::Type::UINT8:
        return change_as<std::uint8_t>(begin, end, action);
      case arrow::Type::INT16:
        return change_as<std::int16_t>(begin, end, action);
      case arrow::Type::UINT16:
        return change_as<std::uint16_t>(begin, end, action);
      case arrow::Type::INT32:
        return change_as<std::int32_t>(begin, end, action);
      case arrow::Type::UINT32:
        return change_as<std::uint32_t>(begin, end, action);
      case arrow::Type::INT64:
        return change_as<std::int64_t>(begin, end, action);
      case arrow::Type::UINT64:
        return change_as<std::uint64_t>(begin, end, action);
      case arrow::Type::FLOAT:
        return change_as<float>(begin, end, action);
      case arrow::Type::DOUBLE:
        return change_as<double>(begin, end, action);
      default:
        name_.refuse(*numbers_->type, "numbers of 8 to 64 bits");
    }
  }

  ColumnName name_;
  std::shared_ptr<arrow::ArrayData> column_, numbers_;
  std::vector<std::shared_ptr<arrow::ArrayData>> lists_;  ///< Around the numbers, outermost first.
};

template <class Builder>
std::shared_ptr<arrow::Array> built_texts(std::span<const std::string> texts,
                                          const ColumnName& name) {
  Builder builder;
  for (const auto& text : texts) check(builder.Append(text), name.file);
  return take(builder.Finish(), name.file);
}

std::shared_ptr<arrow::Array> array_of_texts(const std::shared_ptr<arrow::DataType>& type,
                                             std::span<const std::string> texts,
                                             const ColumnName& name) {
  if (type->id() == arrow::Type::STRING) return built_texts<arrow::StringBuilder>(texts, name);
  if (type->id() == arrow::Type::LARGE_STRING)
    return built_texts<arrow::LargeStringBuilder>(texts, name);
  if (type->id() != arrow::Type::DICTIONARY) name.refuse(*type, "text");
  std::map<std::string, std::int32_t> number;
  std::vector<std::string> distinct;
  arrow::Int32Builder of_rows;  // what Parquet's reader has, whatever was written
  for (const auto& text : texts) {
    const auto [at, is_new] = number.try_emplace(text, static_cast<std::int32_t>(distinct.size()));
    if (is_new) distinct.push_back(text);
    check(of_rows.Append(at->second), name.file);
  }
  const auto& words = static_cast<const arrow::DictionaryType&>(*type).value_type();
  return take(arrow::DictionaryArray::FromArrays(type, take(of_rows.Finish(), name.file),
                                                 array_of_texts(words, distinct, name)),
              name.file);
}

/// The part of `changes` that is of the rows from `first` on.
class RowChanges {
 public:
  RowChanges(const ColumnChanges& changes, std::int64_t first, const fs::path& file)
      : changes_(changes), first_(static_cast<std::size_t>(first)), file_(file) {}

  std::shared_ptr<arrow::Table> apply(std::shared_ptr<arrow::Table> table) const {
    for (const auto& [name, by] : changes_.shifts)
      table = replaced(table, name, [&](const auto& array, std::size_t row, const auto& where) {
        OwnNumbers own(array, where);
        for (std::int64_t i = 0; i < array.length(); ++i) own.add(i, by[row++]);
        return own.column();
      });
    for (const auto& [name, to] : changes_.numbers)
      table = replaced(table, name, [&](const auto& array, std::size_t row, const auto& where) {
        OwnNumbers own(array, where);
        for (std::int64_t i = 0; i < array.length(); ++i) own.set(i, to[row++]);
        return own.column();
      });
    for (const auto& [name, to] : changes_.texts)
      table = replaced(table, name, [&](const auto& array, std::size_t row, const auto& where) {
        const auto count = static_cast<std::size_t>(array.length());
        return array_of_texts(array.type(), std::span(to).subspan(row, count), where);
      });
    return table;
  }

 private:
  /// The table with make(a piece of the column, the row it begins with, its name) in its place.
  template <class Make>
  std::shared_ptr<arrow::Table> replaced(const std::shared_ptr<arrow::Table>& table,
                                         const std::string& name, Make make) const {
    const int at = table->schema()->GetFieldIndex(name);
    if (at < 0) return table;
    auto row = first_;
    arrow::ArrayVector chunks;
    for (const auto& chunk : table->column(at)->chunks()) {
      chunks.push_back(make(*chunk, row, ColumnName{name, file_}));
      row += static_cast<std::size_t>(chunk->length());
    }
    const auto column = std::make_shared<arrow::ChunkedArray>(chunks, table->field(at)->type());
    return take(table->SetColumn(at, table->field(at), column), file_);
  }

  const ColumnChanges& changes_;
  std::size_t first_;
  const fs::path& file_;
};

/// A Parquet file on its way.
class ParquetTarget {
 public:
  ParquetTarget(const fs::path& path, const arrow::Schema& schema) : path_(path) {
    writing(path_, [&]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(sink_, arrow::io::FileOutputStream::Open(path_.string()));
      return parquet::arrow::FileWriter::Open(
                 schema, arrow::default_memory_pool(), sink_,
                 parquet::WriterProperties::Builder()
                     .compression(parquet::Compression::SNAPPY)
                     ->build(),
                 parquet::ArrowWriterProperties::Builder().store_schema()->build())
          .Value(&writer_);
    });
  }

  /// As one row group.
  void add(const arrow::Table& table) {
    writing(path_, [&] { return writer_->WriteTable(table, table.num_rows()); });
  }

  void close() {
    writing(path_, [&] { return writer_->Close(); });
    writing(path_, [&] { return sink_->Close(); });
  }

 private:
  const fs::path& path_;
  std::shared_ptr<arrow::io::FileOutputStream> sink_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

void write_arrow_file(const arrow::Table& table, const fs::path& target) {
  writing(target, [&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto sink, arrow::io::FileOutputStream::Open(target.string()));
    ARROW_ASSIGN_OR_RAISE(const auto writer, arrow::ipc::MakeFileWriter(sink, table.schema()));
    ARROW_ASSIGN_OR_RAISE(const auto batch, table.CombineChunksToBatch());
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(*batch));
    ARROW_RETURN_NOT_OK(writer->Close());
    return sink->Close();
  });
}

std::shared_ptr<arrow::Table> whole_table(const fs::path& source) {
  if (is_parquet(source)) {
    const auto reader = parquet_file::open(source);
    std::vector<int> groups(static_cast<std::size_t>(reader->num_row_groups()));
    std::iota(groups.begin(), groups.end(), 0);
    return take(take(reader->GetRecordBatchReader(groups), source)->ToTable(), source);
  }
  const auto file = take(arrow::io::ReadableFile::Open(source.string()), source);
  const auto table =
      take(take(arrow::ipc::RecordBatchFileReader::Open(file), source)->ToTable(), source);
  check(table->ValidateFull(), source);  // sizes inside a damaged file can be wrong
  return table;
}

std::shared_ptr<arrow::ChunkedArray> rows_of_column(const arrow::ChunkedArray& column,
                                                    std::span<const RowStretch> rows) {
  arrow::ArrayVector chunks;
  for (const auto& [begin, end] : rows) {
    const auto part = column.Slice(begin, end - begin);
    chunks.insert(chunks.end(), part->chunks().begin(), part->chunks().end());
  }
  return std::make_shared<arrow::ChunkedArray>(chunks, column.type());
}

void copy_rows(const fs::path& source, std::span<const RowStretch> rows,
               const ColumnChanges& changes, const fs::path& target) {
  guarded(source, [&] {
    const auto reader = parquet_file::open(source);
    std::shared_ptr<arrow::Schema> schema;
    check(reader->GetSchema(&schema), source);
    ParquetTarget copy(target, *schema);
    std::int64_t begin = 0, copied = 0;
    for (int group = 0; group < reader->num_row_groups(); ++group) {
      const auto end = begin + reader->parquet_reader()->metadata()->RowGroup(group)->num_rows();
      while (!rows.empty() && rows.front().end <= begin) rows = rows.subspan(1);
      std::shared_ptr<arrow::Table> table;
      std::vector<std::shared_ptr<arrow::Table>> parts;
      for (const auto& stretch : rows) {
        const auto from = std::max(begin, stretch.begin), to = std::min(end, stretch.end);
        if (from >= to) break;
        if (!table)
          table = take(take(reader->GetRecordBatchReader({group}), source)->ToTable(), source);
        parts.push_back(table->Slice(from - begin, to - from));
      }
      begin = end;
      if (parts.empty()) continue;
      const auto kept = take(arrow::ConcatenateTables(parts), source);
      copy.add(*RowChanges(changes, copied, source).apply(kept));
      copied += kept->num_rows();
    }
    copy.close();
  });
}

void copy_small_table(const fs::path& source,
                      const std::function<std::vector<RowStretch>(const std::string&)>& rows_of,
                      const ColumnChanges& changes, const fs::path& target) {
  guarded(source, [&] {
    const auto whole = whole_table(source);
    std::vector<std::shared_ptr<arrow::ChunkedArray>> columns;
    for (int i = 0; i < whole->num_columns(); ++i)
      columns.push_back(rows_of_column(*whole->column(i), rows_of(whole->field(i)->name())));
    const auto kept = arrow::Table::Make(whole->schema(), columns);
    check(kept->Validate(), source);
    const auto table = RowChanges(changes, 0, source).apply(kept);
    if (!is_parquet(source)) return write_arrow_file(*table, target);
    ParquetTarget copy(target, *table->schema());
    copy.add(*table);
    copy.close();
  });
}

const LateFunctionIs is_copy_parquet_rows(copy_parquet_rows, &copy_rows);
const LateFunctionIs is_copy_table_rows(copy_table_rows, &copy_small_table);

}  // namespace
}  // namespace kindred
