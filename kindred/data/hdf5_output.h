// A new HDF5 file that appears whole or not at all. Internal; formats and array files use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

/// A new file, written beside its name and renamed into place by commit(); dropped otherwise.
/// Datasets are contiguous and uncompressed, so that they can be mapped. Throws IoError.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

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
  void write_strings(const std::string& name, const std::vector<std::string>& strings);
  void write_attribute(const std::string& object, const std::string& name, std::int64_t value);
  void write_attribute(const std::string& object, const std::string& name,
                       const std::string& value);
  void commit();

 private:
  Handle create_dataset(const std::string& name, hid_t type,
                        const std::vector<std::int64_t>& shape);
  void put(const Handle& dataset, const std::string& name, hid_t type, const void* values);
  Handle create_attribute(const std::string& object, const std::string& name, hid_t type);
  [[noreturn]] void fail(const std::string& doing) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  Handle file_;
};

}  // namespace kindred::hdf5
