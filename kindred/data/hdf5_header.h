// Looks at a dataset's raw header before HDF5 does. Internal.
//
// Files in HDF5's older layout, which h5py writes by default, have no checksums over their headers,
// and HDF5 1.10 divides by zero or reads out of bounds while it opens a dataset with certain
// damage. See docs/decisions/0004-hdf5-corrupt-files.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kindred::hdf5 {

/// Throws DataFormatError when the header at `address` has a type or a chunk shape HDF5 would
/// stumble over; `where` begins the message. Headers with a checksum are left to HDF5.
void check_raw_header(const std::filesystem::path& path, std::uint64_t address,
                      const std::string& where);

}  // namespace kindred::hdf5
