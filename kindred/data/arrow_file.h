// One file of Arrow's own format or of Parquet, of which columns may be structs of others.
//
// No Arrow type appears here; a build without Arrow has no_parquet.cpp instead, where opening
// throws.
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

  std::string name() const;  ///< "observations/goal"
};

/// Throws IoError when the file cannot be opened, and DataFormatError with file, column and row
/// when it is damaged or holds something else than was asked for. Not for several threads at once.
class ArrowFile {
 public:
  explicit ArrowFile(const std::filesystem::path& path);
  ~ArrowFile();
  ArrowFile(const ArrowFile&) = delete;
  ArrowFile& operator=(const ArrowFile&) = delete;

  std::int64_t rows() const;
  const std::vector<ArrowColumn>& columns() const;

  /// Rows [begin, end) of a column like `column`, which may be one of another file, to
  /// out[(end - begin) * row_size]; none is null. T: float or int64.
  template <class T>
  void read(const ArrowColumn& column, std::int64_t begin, std::int64_t end, T* out) const;
  std::vector<std::string> read_texts(const ArrowColumn& column, std::int64_t begin,
                                      std::int64_t end) const;

  /// "'file' column 'name'", for messages.
  std::string where(const ArrowColumn& column) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace kindred
