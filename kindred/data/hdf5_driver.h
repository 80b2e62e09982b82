// The disk below an HDF5 file that is being written, through a driver that never fails. Internal.
//
// HDF5 cannot close a file whose last bytes the disk refuses: it keeps the file open and crashes
// over it when the program ends. So HDF5 is not told. The first error is kept here for the writer
// to ask for, and what could not be written stays in memory, where HDF5 finds it again, until it
// has closed the file in good order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kindred/core/descriptor.h"
#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

class DiskFile {
 public:
  /// An existing file, which messages call `known_as`. Throws IoError.
  DiskFile(const std::filesystem::path& path, const std::string& known_as);

  /// The first error as a sentence; empty while everything has been written.
  const std::string& problem() const { return problem_; }
  /// Writes nothing more: the file is not wanted.
  void abandon() { abandoned_ = true; }

  std::uint64_t size() const { return size_; }
  /// Bytes beyond the end are zeros. Throws IoError.
  void read(std::uint64_t offset, std::span<char> out) const;
  void write(std::uint64_t offset, std::string_view bytes, bool raw_values);
  void truncate(std::uint64_t size);

 private:
  template <class Change>
  bool try_to(const Change& change);
  void keep(std::uint64_t offset, std::string_view bytes);

  Descriptor file_;
  std::uint64_t size_;
  std::string problem_;
  bool abandoned_ = false;
  std::map<std::uint64_t, std::string> kept_;  ///< Pages that could not be written, by number.
};

/// Lets a file that is created or opened with `access` be written through `disk`; HDF5 holds on to
/// it as long as the file is open.
void set_disk(const Handle& access, const std::shared_ptr<DiskFile>& disk);

}  // namespace kindred::hdf5
