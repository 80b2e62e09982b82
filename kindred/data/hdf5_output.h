// What is written to HDF5 files, new ones and existing ones. Internal; formats and array files use
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
  [[noreturn]] void fail(const std::string& doing) const;

 protected:
  explicit Writer(std::filesystem::path target) : target_(std::move(target)) { silence_errors(); }
  ~Writer() = default;

  std::filesystem::path target_;  ///< As messages name the file.
  Handle file_;

 private:
  Handle create_dataset(const std::string& name, hid_t type,
                        const std::vector<std::int64_t>& shape);
  void put(const Handle& dataset, const std::string& name, hid_t type, const void* values);
  Handle create_attribute(const std::string& object, const std::string& name, hid_t type);
};

/// A new file, written beside its name and renamed into place by commit(); dropped otherwise.
class OutputFile : public Writer {
 public:
  explicit OutputFile(const std::filesystem::path& target);
  ~OutputFile();
  void commit();

 private:
  std::filesystem::path temporary_;
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
  void close();
};

}  // namespace kindred::hdf5
