// Undoes HDF5's filters on the bytes of a chunk, without HDF5. Internal.
//
// HDF5 undoes them on one thread at a time and with zlib; here every thread has an Unpacker of its
// own, and libdeflate does the work (docs/decisions/0026-compressed-files.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct libdeflate_decompressor;

namespace kindred::hdf5 {

/// What was done to the bytes of every chunk.
struct Filter {
  enum Kind { kShuffle, kDeflate, kChecksum, kLzf };
  Kind kind;
  std::size_t element = 0;  ///< Bytes of a value, to a shuffle.
};

/// The number that stands for h5py's LZF, which HDF5 itself does not have.
inline constexpr int kLzfFilter = 32000;

/// Expands LZF into `out` and returns how much of it was filled; nothing when the bytes are no LZF,
/// or more of it than fits.
std::optional<std::size_t> expand_lzf(std::span<const char> packed, std::span<char> out);

/// Fletcher's checksum of 32 bits, as HDF5 defines it.
std::uint32_t fletcher32(std::span<const char> bytes);

/// Puts the first bytes of all values, then the second bytes, … back together.
void unshuffle(std::span<const char> shuffled, std::size_t element, std::span<char> out);

/// Unpacks chunks of one dataset, one after the other. For one thread.
class Unpacker {
 public:
  /// `filters` in the order in which they were applied; a chunk holds `bytes` when unpacked.
  /// Messages begin with `where`.
  Unpacker(std::vector<Filter> filters, std::size_t bytes, std::string where);
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// The whole chunk, until the next is unpacked; bit i of `skipped` says that filter i was not
  /// applied to it. Throws DataFormatError when it does not unpack to a whole chunk.
  std::span<const char> unpack(std::span<const char> packed, std::uint32_t skipped);

 private:
  /// One of the two buffers, which does not hold `busy`.
  std::span<char> buffer_beside(std::span<const char> busy);
  std::span<const char> inflate(std::span<const char> packed);
  std::span<const char> expand(std::span<const char> packed);
  [[noreturn]] void refuse_size(std::size_t size) const;
  [[noreturn]] void refuse(const char* problem) const;

  std::vector<Filter> filters_;
  std::size_t bytes_, room_;
  std::string where_;
  std::unique_ptr<char[]> buffers_[2];
  libdeflate_decompressor* inflater_ = nullptr;  ///< Made when it is first needed.
};

}  // namespace kindred::hdf5
