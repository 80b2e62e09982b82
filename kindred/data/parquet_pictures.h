// Pictures in a Parquet column, as Hugging Face's datasets keep them. Internal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/late_part.h"

namespace kindred {

/// The encoded bytes or, where those are not there, the file that holds them.
struct ParquetPicture {
  std::string bytes;
  std::string path;
};

/// Those of the given rows of `file`, which increase. Only the pages around them are decoded. A row
/// without one gives two empty texts. Throws IoError, or DataFormatError when the file is damaged,
/// too short or the column holds something else.
extern ParquetFunction<std::vector<ParquetPicture>(const std::filesystem::path& file,
                                                   const std::string& column,
                                                   std::span<const std::int64_t> rows)>
    read_parquet_pictures;

}  // namespace kindred
