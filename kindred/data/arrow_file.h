// One file of Arrow's own format or of Parquet, of which columns may be structs of others.
//
// No Arrow type appears here, as in parquet_table.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kindred/data/parquet_table.h"

namespace kindred {

/// A column that is no struct.
struct ArrowColumn {
  std::vector<std::string> path;           ///< The structs it is in, and its name.
  ParquetKind kind = ParquetKind::kOther;  ///< Of the items, where each row is a list of them.
  bool list = false;
  std::int64_t row_size = 1;  ///< Items in each row; rows of various sizes are of kind kOther.
  bool is_byte = false;
};

/// Throws IoError when the file cannot be opened, and DataFormatError with file, column and row
/// when it is damaged or holds something else than was asked for. Not for several threads at once.
class ArrowFile {
 public:
  virtual ~ArrowFile() = default;

  virtual std::int64_t rows() const = 0;
  virtual const std::vector<ArrowColumn>& columns() const = 0;

  /// Rows [begin, end) of a column like `column`, which may be one of another file, to
  /// out[(end - begin) * row_size]; none is null.
  virtual void read(const ArrowColumn& column, std::int64_t begin, std::int64_t end,
                    float* out) const = 0;
  virtual void read(const ArrowColumn& column, std::int64_t begin, std::int64_t end,
                    std::int64_t* out) const = 0;
  virtual std::vector<std::string> read_texts(const ArrowColumn& column, std::int64_t begin,
                                              std::int64_t end) const = 0;

  /// "'file' column 'observations/goal'", for messages.
  virtual std::string where(const ArrowColumn& column) const = 0;
};

extern ParquetFunction<std::unique_ptr<const ArrowFile>(const std::filesystem::path& path)>
    open_arrow_file;

}  // namespace kindred
