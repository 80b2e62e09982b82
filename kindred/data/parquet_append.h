// A column added to a Parquet file whose bytes all stay where they are. Internal.
//
// The new column's pages and a new footer go to the end; the old footer remains, unused. So a file
// that is cut back to its old size is the old file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "kindred/core/late_part.h"

namespace kindred {

/// Adds an int64 column, or puts it in the place of the one with that name. Descriptions of the
/// schema in the file (Arrow's, Hugging Face's) are kept true. Throws DataFormatError when the file
/// is damaged or has another number of rows, IoError when it cannot be written.
void append_parquet_column(const std::filesystem::path& file, const std::string& name,
                           std::span<const std::int64_t> values);

namespace parquet_file {

/// A Parquet file with nothing but this column, in row groups of these sizes.
extern ParquetFunction<std::string(const std::string& name, std::span<const std::int64_t> values,
                                   std::span<const std::int64_t> group_rows)>
    one_column_file;

/// An Arrow schema as Parquet files hold it, with an int64 field at its end and no other of that
/// name. What cannot be understood is returned as it is.
extern ParquetFunction<std::string(const std::string& encoded, const std::string& name)>
    schema_with_column;

}  // namespace parquet_file
}  // namespace kindred
