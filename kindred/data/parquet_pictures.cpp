#include "kindred/data/parquet_pictures.h"

#include <parquet/column_reader.h>

#include "kindred/core/words.h"
#include "kindred/data/parquet_arrow.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

/// The number of the column's part with this name, in the order of all parts of all columns.
int part_of(const parquet::SchemaDescriptor& schema, const std::string& column, const char* part,
            const fs::path& file) {
  for (int i = 0; i < schema.num_columns(); ++i) {
    const auto& leaf = *schema.Column(i);
    if (schema.GetColumnRoot(i)->name() == column && leaf.name() == part &&
        leaf.physical_type() == parquet::Type::BYTE_ARRAY && leaf.max_repetition_level() == 0)
      return i;
  }
  throw DataFormatError("'{}' column '{}' has no '{}', expected pictures with bytes and path",
                        file.string(), printable(column), part);
}

/// One part of the column in increasing rows of one file.
class PartReader {
 public:
  PartReader(parquet::ParquetFileReader& file, int part) : file_(file), part_(part) {}

  /// Empty where there is none; nothing else where the rows end before.
  bool read(std::int64_t row, std::string& value) {
    while (!column_ || row >= end_) {
      if (group_ == file_.metadata()->num_row_groups()) return false;
      begin_ = end_;
      end_ += file_.metadata()->RowGroup(group_)->num_rows();
      if (row < end_)
        column_ = std::static_pointer_cast<parquet::ByteArrayReader>(
            file_.RowGroup(group_)->Column(part_));
      ++group_;
    }
    std::int16_t level = 0;
    std::int64_t values = 0;
    parquet::ByteArray found;
    if (column_->Skip(row - begin_) != row - begin_) return false;
    if (column_->ReadBatch(1, &level, nullptr, &found, &values) != 1) return false;
    begin_ = row + 1;
    value = values == 1 ? std::string(reinterpret_cast<const char*>(found.ptr), found.len) : "";
    return true;
  }

 private:
  parquet::ParquetFileReader& file_;
  int part_, group_ = 0;
  std::shared_ptr<parquet::ByteArrayReader> column_;
  std::int64_t begin_ = 0, end_ = 0;  ///< The next row of the column, and behind its last.
};

std::vector<ParquetPicture> read_pictures(const fs::path& file, const std::string& column,
                                          std::span<const std::int64_t> rows) {
  const auto opened = parquet_file::open(file);
  return parquet_file::guarded(file, [&] {
    auto& reader = *opened->parquet_reader();
    const auto& schema = *reader.metadata()->schema();
    PartReader bytes(reader, part_of(schema, column, "bytes", file));
    PartReader path(reader, part_of(schema, column, "path", file));
    std::vector<ParquetPicture> pictures(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (!bytes.read(rows[i], pictures[i].bytes) || !path.read(rows[i], pictures[i].path))
        throw DataFormatError("'{}' column '{}' ends before row {}", file.string(),
                              printable(column), rows[i]);
    return pictures;
  });
}

const LateFunctionIs is_read_parquet_pictures(read_parquet_pictures, &read_pictures);

}  // namespace
}  // namespace kindred
