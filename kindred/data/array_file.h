// Named arrays and text in one HDF5 file: how runs, states and policies are kept on disk.
// No HDF5 type appears here; the library stays private to this room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kindred {

/// Values with their shape, row-major.
template <class T>
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<T> values;
};

/// Writes a new file; the file appears under its name only when close() has succeeded, and an
/// abandoned writer leaves nothing behind. Throws IoError.
class ArrayFileWriter {
 public:
  explicit ArrayFileWriter(const std::filesystem::path& path);
  ~ArrayFileWriter();
  ArrayFileWriter(const ArrayFileWriter&) = delete;
  ArrayFileWriter& operator=(const ArrayFileWriter&) = delete;

  /// `name` may contain slashes: groups are made as needed. T: float, double, int32, int64, uint8.
  template <class T>
  void write(const std::string& name, std::span<const T> values, std::vector<std::int64_t> shape);
  template <class T>
  void write(const std::string& name, const std::vector<T>& values) {
    write<T>(name, values, {static_cast<std::int64_t>(values.size())});
  }
  void write_text(const std::string& name, const std::string& text);
  void close();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// Reads such a file. Throws IoError when it cannot be opened and DataFormatError when an array is
/// missing or of another kind than asked for.
class ArrayFileReader {
 public:
  explicit ArrayFileReader(const std::filesystem::path& path);
  ~ArrayFileReader();
  ArrayFileReader(const ArrayFileReader&) = delete;
  ArrayFileReader& operator=(const ArrayFileReader&) = delete;

  bool contains(const std::string& name) const;
  template <class T>
  Array<T> read(const std::string& name) const;
  std::string read_text(const std::string& name) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace kindred
