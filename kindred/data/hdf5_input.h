// An HDF5 file to read, with checked datasets. Internal; formats and array files are built on it.
//
// A file comes from anywhere and its header may claim anything, so a dataset is checked (type,
// size against the file, filters, storage) when it is opened, before a byte is allocated for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/core/thread_pool.h"
#include "kindred/data/hdf5_chunks.h"
#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

enum class Kind { kFloat, kInteger, kText };

std::string_view to_string(Kind kind);

/// "[3, 17]", as messages show a shape.
std::string shape_text(const std::vector<std::int64_t>& shape);

/// Compares text with its numbers taken as numbers: demo_2 comes before demo_10.
bool natural_less(std::string_view a, std::string_view b);

/// A dataset whose type, storage and size have been found sound.
class Dataset {
 public:
  Dataset(Handle handle, std::string where, std::uintmax_t file_size,
          std::shared_ptr<ThreadPool> pool);

  /// File and path, as messages begin.
  const std::string& where() const { return where_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  Kind kind() const { return kind_; }
  bool is_number() const { return kind_ != Kind::kText; }
  /// One unsigned byte per number, or h5py's bool.
  bool is_byte() const { return is_byte_; }
  /// h5py's bool.
  bool is_bool() const { return is_bool_; }
  std::int64_t rows() const { return shape_.empty() ? 1 : shape_[0]; }
  std::int64_t row_size() const;  ///< Numbers per row.

  /// Reads rows [begin, end) as T, converted in a bounded buffer. Compressed chunks are unpacked by
  /// all threads of the pool.
  template <class T>
  void read(std::int64_t begin, std::int64_t end, T* out) const;
  /// One row of bytes, without a look at the others: for a few of many large ones.
  void read_row(std::int64_t row, std::uint8_t* out) const;
  /// How many rows of `row_size` numbers to read at a time: about `usual`, but whole chunks where
  /// they are compressed, so that none is unpacked twice, and as many as there are threads.
  std::int64_t rows_at_once(std::int64_t usual, std::int64_t row_size) const;
  /// Calls take(first row, values) for consecutive blocks of rows [begin, end).
  template <class T>
  void for_each_block(std::int64_t begin, std::int64_t end,
                      const std::function<void(std::int64_t, std::span<const T>)>& take) const;
  std::vector<std::string> read_strings() const;

  /// Where the values lie in the file, if they lie there one after the other exactly as T.
  template <class T>
  std::optional<std::uintmax_t> file_offset() const;

  const Handle& handle() const { return handle_; }

 private:
  void check_type();
  void check_storage(const Handle& creation) const;
  void check_filters(const Handle& creation) const;
  void check_values() const;
  ChunkedDataset description() const { return {handle_, type_, shape_, where_, file_size_}; }
  template <class T>
  void read_by_hdf5(std::int64_t begin, std::int64_t end, T* out) const;

  Handle handle_;
  Handle type_;
  std::string where_;
  std::uintmax_t file_size_;
  std::vector<std::int64_t> shape_;
  std::optional<PackedChunks> packed_;   ///< Where HDF5 need not unpack them.
  mutable bool values_checked_ = false;  ///< Before the first of them is read.
  Kind kind_ = Kind::kFloat;
  bool is_byte_ = false;
  bool is_bool_ = false;
};

/// A file opened for reading only; it is never changed, locked or waited for.
class InputFile {
 public:
  /// Throws IoError when it cannot be opened and DataFormatError when it is not sound HDF5.
  /// With a pool its threads unpack what is compressed.
  explicit InputFile(const std::filesystem::path& path, std::shared_ptr<ThreadPool> pool = {});

  const std::filesystem::path& path() const { return path_; }
  std::uintmax_t size() const { return size_; }
  /// "'file' dataset 'name'", as messages begin.
  std::string where(const std::string& name) const;

  bool has_group(const std::string& name) const;
  bool has_dataset(const std::string& name) const;
  /// Throws DataFormatError when there is no such dataset or it is unsound.
  Dataset dataset(const std::string& name) const;
  /// Any object as HDF5 has it, without the checks of dataset(); empty when there is none.
  Handle open(const std::string& name) const;
  /// Names directly inside group `name` ("" is the root), in natural order.
  std::vector<std::string> children(const std::string& name = "") const;

  bool has_attribute(const std::string& object, const std::string& name) const;
  /// An attribute of an object ("" is the root); nothing when it is absent or of another kind.
  std::optional<std::int64_t> integer_attribute(const std::string& object,
                                                const std::string& name) const;
  std::optional<std::string> text_attribute(const std::string& object,
                                            const std::string& name) const;

 private:
  struct Object {
    H5O_type_t type;
    std::optional<std::uint64_t> header;  ///< Where it begins in the file, if HDF5 tells.
  };
  /// What is there under this name, without opening it.
  std::optional<Object> find(const std::string& name) const;
  Handle attribute(const std::string& object, const std::string& name) const;

  std::filesystem::path path_;
  std::shared_ptr<ThreadPool> pool_;
  std::uintmax_t size_ = 0;
  Handle file_;
  Handle links_;
  bool plain_addresses_ = false;  ///< Addresses are 8 bytes and count from the file's beginning.
};

}  // namespace kindred::hdf5
