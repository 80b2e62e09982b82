// How HDF5 gets the bytes of a file that may be damaged. Internal.
#pragma once

#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

/// Lets files opened with `access`, for reading only, be read byte by byte as asked: nothing beyond
/// the end, and without HDF5's cache of neighbouring metadata, which crashes on absurd addresses
/// (docs/decisions/0004-hdf5-corrupt-files.md).
void read_with_care(const Handle& access);

}  // namespace kindred::hdf5
