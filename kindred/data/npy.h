// Arrays in NumPy's .npy format, as the entries of a zip archive (an .npz file).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/data/storage.h"
#include "kindred/data/zip.h"

namespace kindred::npy {

/// What the header of an array says: its type as NumPy writes it ("<f4") and its shape.
struct Header {
  std::string dtype;
  char type = 'f';              ///< f float, i signed, u unsigned, b bool, S bytes, U text.
  std::uint64_t item_size = 4;  ///< Bytes.
  bool big_endian = false;
  bool fortran_order = false;  ///< The first index runs fastest.
  std::vector<std::int64_t> shape;
};

/// Parses the dictionary of a header. Throws DataFormatError that begins with `where`.
Header parse_header(std::string_view text, const std::string& where);

/// One array to read: the constructor checks the header against the size of the entry, before
/// anything is allocated for the values; one of the read functions then takes them, once.
/// Throws DataFormatError naming file and array.
class ArrayReader {
 public:
  ArrayReader(const zip::Archive& archive, const zip::Entry& entry, std::string where);

  /// File and array, as messages begin.
  const std::string& where() const { return where_; }
  const std::string& dtype() const { return header_.dtype; }
  const std::vector<std::int64_t>& shape() const { return header_.shape; }
  /// "[3, 17]", as messages show a shape.
  std::string shape_text() const;
  std::int64_t count() const { return count_; }
  std::int64_t rows() const { return header_.shape.empty() ? 1 : header_.shape[0]; }
  std::int64_t row_size() const;  ///< Numbers per row.

  bool is_float() const { return header_.type == 'f'; }
  bool is_text() const { return header_.type == 'S' || header_.type == 'U'; }
  bool is_integer() const { return !is_float() && !is_text(); }  ///< Booleans are.
  bool is_bool() const { return header_.type == 'b'; }
  /// One unsigned byte or boolean per number.
  bool is_byte() const { return header_.item_size == 1 && (is_bool() || header_.type == 'u'); }

  /// All values, row by row, as T: float or double for any numbers, int64 for integers (larger
  /// ones become the largest), uint8 for bytes.
  template <class T>
  StepValues<T> read();
  /// All values, row by row, as UTF-8; for text only.
  std::vector<std::string> read_text();

 private:
  void read_items(std::span<std::byte> out);

  std::string where_;
  zip::EntryReader bytes_;
  std::uint64_t packed_size_;
  Header header_;
  std::int64_t count_ = 0;
};

/// Adds arrays to an archive. T: float, double, int32, int64, uint8, bool.
class ArrayWriter {
 public:
  explicit ArrayWriter(zip::Writer& archive) : archive_(archive) {}

  /// Begins array `name`; its values follow by append, exactly as many as `shape` says.
  template <class T>
  void begin(const std::string& name, const std::vector<std::int64_t>& shape);
  template <class T>
  void append(std::span<const T> values) {
    archive_.write(std::as_bytes(values));
  }

  template <class T>
  void write(const std::string& name, std::span<const T> values,
             const std::vector<std::int64_t>& shape) {
    begin<T>(name, shape);
    append(values);
  }
  /// Text as UTF-8 in NumPy's type S, which cannot hold zeros at the end of a text.
  void write_text(const std::string& name, std::span<const std::string> values);

 private:
  void begin(const std::string& name, const std::string& dtype, std::uint64_t item_size,
             const std::vector<std::int64_t>& shape);

  zip::Writer& archive_;
};

}  // namespace kindred::npy
