#include "kindred/data/parquet_copy.h"

#include <parquet/arrow/writer.h>
#include <parquet/exception.h>

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/data/parquet_arrow.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using parquet_file::check;
using parquet_file::guarded;
using parquet_file::take;

/// The numbers [begin, end) of an array's own copy, each larger by `by`.
template <class T>
void add_to(arrow::ArrayData& data, std::int64_t begin, std::int64_t end, std::int64_t by) {
  T* values = data.GetMutableValues<T>(1);
  for (auto i = begin; i < end; ++i) values[i] = static_cast<T>(values[i] + static_cast<T>(by));
}

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
  const auto reason = status.detail() ? status.detail()->ToString() : status.message();
  throw IoError("cannot write '{}': {}", target.string(), reason);
}

/// A column on its way into a new file.
class ShiftedColumn {
 public:
  ShiftedColumn(const std::string& name, const fs::path& file) : name_(name), file_(file) {}

  std::shared_ptr<arrow::Array> of(const arrow::Array& array,
                                   std::span<const std::int64_t> by) const {
    auto data = array.data()->Copy();
    if (data->type->id() != arrow::Type::LIST) {
      own_numbers(*data);
      for (std::int64_t row = 0; row < data->length; ++row)
        add(*data, row, row + 1, by[static_cast<std::size_t>(row)]);
      return arrow::MakeArray(data);
    }
    auto items = data->child_data[0]->Copy();
    own_numbers(*items);
    const auto* offsets = data->GetValues<std::int32_t>(1);
    for (std::int64_t row = 0; row < data->length; ++row)
      add(*items, offsets[row], offsets[row + 1], by[static_cast<std::size_t>(row)]);
    data->child_data[0] = items;
    return arrow::MakeArray(data);
  }

 private:
  /// Gives the array a buffer that nobody else sees.
  void own_numbers(arrow::ArrayData& data) const {
    const auto& buffer = data.buffers.size() > 1 ? data.buffers[1] : nullptr;
    if (!buffer) return;
    data.buffers[1] = take(buffer->CopySlice(0, buffer->size()), file_);
  }

  void add(arrow::ArrayData& data, std::int64_t begin, std::int64_t end, std::int64_t by) const {
    if (by == 0 || begin == end) return;
    if (data.type->id() == arrow::Type::INT64)
      add_to<std::int64_t>(data, begin, end, by);
    else if (data.type->id() == arrow::Type::INT32)
      add_to<std::int32_t>(data, begin, end, by);
    else if (data.type->id() == arrow::Type::DOUBLE)
      add_to<double>(data, begin, end, by);
    else if (data.type->id() == arrow::Type::FLOAT)
      add_to<float>(data, begin, end, by);
    else
      throw DataFormatError("'{}' column '{}' holds {}, expected numbers", file_.string(), name_,
                            data.type->ToString());
  }

  const std::string& name_;
  const fs::path& file_;
};

std::shared_ptr<arrow::Table> shifted_table(std::shared_ptr<arrow::Table> table,
                                            const ColumnShifts& shifts, std::int64_t first,
                                            const fs::path& file) {
  for (const auto& [name, all] : shifts) {
    const int at = table->schema()->GetFieldIndex(name);
    if (at < 0) continue;
    std::span<const std::int64_t> by(all);
    by = by.subspan(static_cast<std::size_t>(first));
    arrow::ArrayVector chunks;
    for (const auto& chunk : table->column(at)->chunks()) {
      chunks.push_back(ShiftedColumn(name, file).of(*chunk, by));
      by = by.subspan(static_cast<std::size_t>(chunk->length()));
    }
    table = take(
        table->SetColumn(at, table->field(at),
                         std::make_shared<arrow::ChunkedArray>(chunks, table->field(at)->type())),
        file);
  }
  return table;
}

}  // namespace

void copy_parquet_rows(const fs::path& source, std::span<const RowStretch> rows,
                       const ColumnShifts& shifts, const fs::path& target) {
  guarded(source, [&] {
    const auto reader = parquet_file::open(source);
    std::shared_ptr<arrow::Schema> schema;
    check(reader->GetSchema(&schema), source);
    std::shared_ptr<arrow::io::FileOutputStream> sink;
    std::unique_ptr<parquet::arrow::FileWriter> writer;
    writing(target, [&]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(sink, arrow::io::FileOutputStream::Open(target.string()));
      return parquet::arrow::FileWriter::Open(
                 *schema, arrow::default_memory_pool(), sink,
                 parquet::WriterProperties::Builder()
                     .compression(parquet::Compression::SNAPPY)
                     ->build(),
                 parquet::ArrowWriterProperties::Builder().store_schema()->build())
          .Value(&writer);
    });
    std::int64_t begin = 0, copied = 0;
    for (int group = 0; group < reader->num_row_groups(); ++group) {
      const auto end = begin + reader->parquet_reader()->metadata()->RowGroup(group)->num_rows();
      std::shared_ptr<arrow::Table> table;
      for (const auto& stretch : rows) {
        const auto from = std::max(begin, stretch.begin), to = std::min(end, stretch.end);
        if (from >= to) continue;
        if (!table)
          table = take(take(reader->GetRecordBatchReader({group}), source)->ToTable(), source);
        const auto part =
            shifted_table(table->Slice(from - begin, to - from), shifts, copied, source);
        writing(target, [&] { return writer->WriteTable(*part, part->num_rows()); });
        copied += to - from;
      }
      begin = end;
    }
    writing(target, [&] { return writer->Close(); });
    writing(target, [&] { return sink->Close(); });
  });
}

}  // namespace kindred
