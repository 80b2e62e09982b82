// What is written to HDF5 files, new ones and existing ones. Internal; formats and array files use
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/staged_file.h"
#include "kindred/data/hdf5_driver.h"
#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

/// Writes into an open file. Datasets are contiguous and uncompressed, so that they can be mapped.
/// Throws IoError.
class Writer {
 public:
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void make_group(const std::string& name);
  /// Groups in `name` are made as needed.
  template <class T>
  void write(const std::string& name, std::span<const T> values,
             const std::vector<std::int64_t>& shape);
  /// As write, with fill(begin row, end row, out) supplying one block of rows at a time.
  template <class T>
  void write_blocks(const std::string& name, const std::vector<std::int64_t>& shape,
                    const std::function<void(std::int64_t, std::int64_t, T*)>& fill);
  /// 0 and 1 in the type h5py and numpy call bool.
  void write_flags(const std::string& name, std::span<const std::uint8_t> flags);
  void write_text(const std::string& name, const std::string& text);
  /// Of one length, padded with zeros: numpy's type S.
  void write_strings(const std::string& name, const std::vector<std::string>& strings);
  /// An attribute of an object ("" is the root); one of that name is replaced.
  void write_attribute(const std::string& object, const std::string& name, std::int64_t value);
  void write_attribute(const std::string& object, const std::string& name,
                       const std::string& value);

  const Handle& handle() const { return file_; }
  /// Throws IoError unless HDF5 has `done` what it was to do and the disk has taken it.
  void check(bool done, const std::string& what) const;
  /// Closes a dataset, whose last values HDF5 writes only then.
  void close(Handle dataset, const std::string& name) const;

 protected:
  /// Writes into the file at `path`, which messages call `known_as`.
  Writer(const std::filesystem::path& path, std::string known_as);
  ~Writer();
  /// Closes the file and throws IoError unless every byte was written.
  void close_file();

  std::string known_as_;
  std::shared_ptr<DiskFile> disk_;
  Handle file_;

 private:
  Handle create_dataset(const std::string& name, hid_t type,
                        const std::vector<std::int64_t>& shape);
  void put(Handle dataset, const std::string& name, hid_t type, const void* values) const;
  Handle create_attribute(const std::string& object, const std::string& name, hid_t type);
};

/// A new file, in place when commit() has succeeded; dropped otherwise.
class OutputFile : private StagedFile, public Writer {
 public:
  explicit OutputFile(const std::filesystem::path& target);
  void commit();
};

/// An existing file, changed where it is: for copies nobody else knows of yet.
class ChangedFile : public Writer {
 public:
  /// Messages call it `known_as`.
  ChangedFile(const std::filesystem::path& path, const std::filesystem::path& known_as);

  /// Removes a dataset or group.
  void remove(const std::string& name);
  void remove_attribute(const std::string& object, const std::string& name);
  /// Throws IoError when not everything reached the file.
  void commit() { close_file(); }
};

}  // namespace kindred::hdf5
