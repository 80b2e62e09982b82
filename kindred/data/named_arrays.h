// Arrays by their names: what HDF5, NPZ and Parquet files have in common, whatever they call what
// they hold. A row of an array is a step or an episode.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kindred {

class ThreadPool;

enum class ArrayKind { kFloat, kInteger, kBool, kText };

/// "floats", "integers", "booleans", "text", as messages say.
std::string_view to_string(ArrayKind kind);

struct NamedArray {
  std::string name;
  ArrayKind kind = ArrayKind::kFloat;
  std::vector<std::int64_t> shape;   ///< The first extent counts rows.
  std::vector<std::string> columns;  ///< [row_size], or empty: nobody named them.
  bool is_byte = false;              ///< One unsigned byte or boolean per number.

  std::int64_t rows() const { return shape.empty() ? 1 : shape[0]; }
  std::int64_t row_size() const;  ///< Items per row.
  bool is_number() const { return kind != ArrayKind::kText; }
  /// "obs_array [50, 200, 7] of floats"
  std::string description() const;
};

/// The arrays of one file. Rows are read in any order; going through them from first to last is
/// what every file does well. Throws DataFormatError naming file and array when values cannot be
/// read.
class NamedArrays {
 public:
  virtual ~NamedArrays() = default;

  /// All arrays that can be read, sorted by name; of a file with very many, the first.
  const std::vector<NamedArray>& list() const { return list_; }
  /// nullptr when there is none of that name.
  const NamedArray* find(std::string_view name) const;
  /// File and array, as messages begin.
  std::string where(std::string_view name) const;
  /// "'file'"
  const std::string& file() const { return file_; }
  /// Where a row is, for messages: of several files which one, and its number there.
  struct Place {
    std::string where;
    std::int64_t row;
  };
  virtual Place place(const NamedArray& array, std::int64_t row) const {
    return {where(array.name), row};
  }

  /// How many rows to ask for at a time: about `usual`, such that nothing is unpacked twice.
  virtual std::int64_t rows_at_once(const NamedArray& /*array*/, std::int64_t usual) const {
    return usual;
  }
  /// Rows [begin, end) as numbers to out[(end - begin) * row_size]; of numbers only. Larger
  /// integers than int64 holds become the largest; floats lose their fraction.
  virtual void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
                    float* out) const = 0;
  virtual void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
                    std::int64_t* out) const = 0;
  /// Rows [begin, end) as UTF-8; of text only.
  virtual std::vector<std::string> read_text(const NamedArray& array, std::int64_t begin,
                                             std::int64_t end) const = 0;

 protected:
  explicit NamedArrays(const std::filesystem::path& path);

  std::string file_;
  std::vector<NamedArray> list_;
};

/// Opens an HDF5, NPZ or Parquet file (or a folder of these last), told apart by its content.
/// With a pool its threads unpack what is compressed in HDF5. Throws IoError or DataFormatError.
std::unique_ptr<const NamedArrays> open_named_arrays(const std::filesystem::path& path,
                                                     std::shared_ptr<ThreadPool> pool = {});

/// The columns of a Parquet table that lies in these files; messages call it `path`. `names` are
/// what the numbers of some columns are called.
std::unique_ptr<const NamedArrays> open_parquet_arrays(
    const std::filesystem::path& path, std::vector<std::filesystem::path> files,
    const std::map<std::string, std::vector<std::string>>& names = {});

}  // namespace kindred
