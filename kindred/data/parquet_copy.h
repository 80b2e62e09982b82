// Some rows of a Parquet file in a new one, with every column as it was. Internal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace kindred {

struct RowStretch {
  std::int64_t begin = 0, end = 0;
};

/// By column, what is added to each number in every row that is copied: how rows are renumbered,
/// whatever type the column has.
using ColumnShifts = std::map<std::string, std::vector<std::int64_t>>;

/// Writes `target` with these rows of `source`, which increase, a row group at a time. Throws
/// DataFormatError when the source is damaged or a column to shift holds no numbers, IoError when
/// the target cannot be written.
void copy_parquet_rows(const std::filesystem::path& source, std::span<const RowStretch> rows,
                       const ColumnShifts& shifts, const std::filesystem::path& target);

}  // namespace kindred
