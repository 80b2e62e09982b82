// Some rows of a Parquet or Arrow file in a new one, with every column as it was, or changed as
// renumbering needs it. Internal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/late_part.h"

namespace kindred {

struct RowStretch {
  std::int64_t begin = 0, end = 0;
};

/// What becomes of columns on the way, by name and for every row of the copy. All else stays.
struct ColumnChanges {
  /// Added to each number of the row, whatever type the column has; 1 sets a flag.
  std::map<std::string, std::vector<std::int64_t>> shifts;
  /// In place of the numbers of the row, as many as it has; none: they stay.
  std::map<std::string, std::vector<std::vector<double>>> numbers;
  /// In place of the text of the row.
  std::map<std::string, std::vector<std::string>> texts;
};

/// Writes `target` with these rows of `source`, a row group at a time; their beginnings do not
/// decrease, and a single row may come several times. Throws DataFormatError when the source is
/// damaged or a column to change holds something else, IoError when the target cannot be written.
extern ParquetFunction<void(const std::filesystem::path& source, std::span<const RowStretch> rows,
                            const ColumnChanges& changes, const std::filesystem::path& target)>
    copy_parquet_rows;

/// The same of a small table, in the format it has, as one batch: `rows_of` says which rows to take
/// of a column, of each as many.
extern ParquetFunction<void(
    const std::filesystem::path& source,
    const std::function<std::vector<RowStretch>(const std::string&)>& rows_of,
    const ColumnChanges& changes, const std::filesystem::path& target)>
    copy_table_rows;

}  // namespace kindred
