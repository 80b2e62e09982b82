// Looks at the chunks of a dataset before HDF5 reads them. Internal.
//
// HDF5 1.10 takes for granted that a chunk, unpacked, is as large as the dataset says; where damage
// to the index or to a filter makes it smaller, it reads beyond it
// (docs/decisions/0004-hdf5-corrupt-files.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

/// Throws DataFormatError, which begins with `where`, when a stored chunk with some of the rows
/// [begin, end) unpacks to less than a chunk. `element` is the size of a value in bytes. Datasets
/// that are not chunked pass.
void check_chunks(const Handle& dataset, const std::vector<std::int64_t>& shape, std::int64_t begin,
                  std::int64_t end, std::uintmax_t element, std::uintmax_t file_size,
                  const std::string& where);

}  // namespace kindred::hdf5
