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

/// An extent of a shape that may be anything.
inline constexpr std::int64_t kAnyExtent = -1;

/// Reads such a file, which may have been changed by anybody since. Throws IoError when it cannot
/// be opened and DataFormatError, naming file and array, when an array is missing or not what was
/// asked for.
class ArrayFileReader {
 public:
  explicit ArrayFileReader(const std::filesystem::path& path);
  ~ArrayFileReader();
  ArrayFileReader(const ArrayFileReader&) = delete;
  ArrayFileReader& operator=(const ArrayFileReader&) = delete;

  bool contains(const std::string& name) const;
  template <class T>
  Array<T> read(const std::string& name) const;
  /// An array of this shape, where an extent may be kAnyExtent, but not 0.
  template <class T>
  Array<T> read(const std::string& name, const std::vector<std::int64_t>& shape) const;
  /// The same with every number finite. T: float or double.
  template <class T>
  Array<T> read_finite(const std::string& name, const std::vector<std::int64_t>& shape) const;
  /// The one number of an array.
  template <class T>
  T read_number(const std::string& name) const;
  std::string read_text(const std::string& name) const;

  /// For checks of the values: throws DataFormatError that names file and array and says `problem`,
  /// such as "has 3 rows, expected 4".
  [[noreturn]] void refuse(const std::string& name, const std::string& problem) const;

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace kindred
