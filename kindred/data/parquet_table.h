// The rows of one or several Parquet files, read a column and a stretch at a time.
//
// Files are opened when rows of theirs are read, and one row group is decoded in batches, so that
// memory is bounded by what is asked for. No Arrow type appears here: who reads is in the part that
// needs Arrow (core/late_part.h), and in a build without Arrow no_parquet.cpp, where opening
// throws.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kindred/core/late_part.h"

namespace kindred {

enum class ParquetKind { kFloat, kInteger, kBool, kText, kOther };

struct ParquetColumn {
  std::string name;
  ParquetKind kind = ParquetKind::kOther;  ///< Of the items, where each row is a list of them.
  bool list = false;
};

/// Rows that lie together in one file: a row group.
struct ParquetBlock {
  std::size_t file = 0;
  std::int64_t begin = 0, end = 0;  ///< Rows of the table.
  std::int64_t row_in_file = 0;     ///< What `begin` is in its file.
};

/// Throws IoError when a file cannot be opened, and DataFormatError with file, column and row when
/// it is damaged or holds something else than was asked for. Not for several threads at once.
class ParquetTable {
 public:
  virtual ~ParquetTable() = default;

  virtual std::int64_t rows() const = 0;
  virtual const std::vector<std::filesystem::path>& files() const = 0;
  /// What can be read at once; the blocks cover all rows in order.
  virtual const std::vector<ParquetBlock>& blocks() const = 0;
  virtual const std::vector<ParquetColumn>& columns() const = 0;
  /// Null when there is no such column.
  virtual const ParquetColumn* find(const std::string& name) const = 0;
  /// Items in each row: 1 where rows are no lists, else as many as the first row has.
  virtual std::int64_t row_size(const std::string& column) const = 0;
  /// What the first file says of itself under this key.
  virtual std::optional<std::string> note(const std::string& key) const = 0;

  /// Rows [begin, end) to out[(end - begin) * row_size]. Every row has as many items as the first,
  /// and none of them is null. Of columns that are not text; int64 only of whole numbers.
  virtual void read(const std::string& column, std::int64_t begin, std::int64_t end,
                    float* out) const = 0;
  virtual void read(const std::string& column, std::int64_t begin, std::int64_t end,
                    double* out) const = 0;
  virtual void read(const std::string& column, std::int64_t begin, std::int64_t end,
                    std::int64_t* out) const = 0;
  template <class T>
  std::vector<T> read(const std::string& column, std::int64_t begin, std::int64_t end) const {
    std::vector<T> values(static_cast<std::size_t>((end - begin) * row_size(column)));
    read(column, begin, end, values.data());
    return values;
  }
  /// Text of rows [begin, end); the items of a list with ", " between them.
  virtual std::vector<std::string> read_texts(const std::string& column, std::int64_t begin,
                                              std::int64_t end) const = 0;

  /// "'file' column 'name'", for messages.
  virtual std::string where(std::size_t file, const std::string& column) const = 0;
};

/// The files one after the other; columns are those of the first.
extern ParquetFunction<std::unique_ptr<const ParquetTable>(
    std::vector<std::filesystem::path> files)>
    open_parquet_table;

/// Whether this Kindred was built with Arrow.
bool has_parquet();

}  // namespace kindred
