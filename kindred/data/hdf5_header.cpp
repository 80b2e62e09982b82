#include "kindred/data/hdf5_header.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "kindred/core/error.h"

namespace kindred::hdf5 {
namespace {

// The parts of "HDF5 File Format Specification Version 3.0", section IV.A, that are needed here.
constexpr unsigned kVersion1 = 1;
constexpr std::size_t kPrefixSize = 16, kMessagePrefixSize = 8;
constexpr unsigned kDataspace = 0x01, kDatatype = 0x03, kLayout = 0x08, kContinuation = 0x10;
constexpr unsigned kShared = 0x02;                     // message flag: the content lies elsewhere
constexpr unsigned kFixedPoint = 0, kEnumeration = 8;  // classes of datatypes
constexpr unsigned kChunked = 2, kVirtual = 3;         // classes of layouts
constexpr std::size_t kMostBlocks = 64, kLargestBlock = 1 << 20;

/// Part of a file; reading beyond its end is what a damaged header leads to.
class Bytes {
 public:
  Bytes(std::vector<unsigned char> bytes, const std::string& where)
      : bytes_(std::move(bytes)), where_(where) {}

  std::size_t size() const { return bytes_.size(); }
  std::uint64_t number(std::size_t at, std::size_t width) const {
    require(at + width <= size());
    std::uint64_t value = 0;
    for (std::size_t i = width; i > 0; --i) value = value << 8 | bytes_[at + i - 1];
    return value;
  }
  Bytes part(std::size_t at, std::size_t length) const {
    require(at <= size() && length <= size() - at);
    const auto* first = bytes_.data() + at;
    return Bytes({first, first + length}, where_);
  }
  void require(bool sound) const {
    if (!sound) throw DataFormatError("{} has a damaged header; the file is corrupt", where_);
  }

 private:
  std::vector<unsigned char> bytes_;
  const std::string& where_;
};

/// An enumeration is its integer type, a name for each member (padded to 8 bytes until version 3)
/// and a value for each.
void check_datatype(const Bytes& type) {
  const auto kind = type.number(0, 1) & 0x0f, version = type.number(0, 1) >> 4;
  if (kind != kEnumeration) return;
  const auto members = type.number(1, 2), width = type.number(4, 4);
  type.require((type.number(8, 1) & 0x0f) == kFixedPoint && type.number(12, 4) == width);
  std::size_t at = 8 + 12;
  for (std::uint64_t i = 0; i < members; ++i) {
    const std::size_t begin = at;
    while (type.number(at, 1) != 0) ++at;
    at = version < 3 ? begin + (at - begin) / 8 * 8 + 8 : at + 1;
  }
  type.require(at + members * width <= type.size());
}

/// The extents of a chunk, and behind them the size of an element; nothing when not chunked.
std::optional<std::uint64_t> chunk_rank(const Bytes& layout) {
  const auto version = layout.number(0, 1);
  const auto kind = layout.number(version < 3 ? 2 : 1, 1);
  if (version == 4 && kind == kVirtual) return std::nullopt;
  layout.require(version >= 1 && version <= 3);  // later ones come with checksums
  if (kind != kChunked) return std::nullopt;
  const auto extents = layout.number(version < 3 ? 1 : 2, 1);
  const std::size_t first = version < 3 ? 16 : 11;
  layout.require(extents >= 2);
  for (std::uint64_t i = 0; i < extents; ++i) layout.require(layout.number(first + 4 * i, 4) > 0);
  return extents - 1;
}

struct Block {
  std::uint64_t address, size;
};

}  // namespace

void check_raw_header(const std::filesystem::path& path, std::uint64_t address,
                      const std::string& where) {
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](Block block) {
    std::vector<unsigned char> bytes(std::min<std::uint64_t>(block.size, kLargestBlock));
    file.clear();
    file.seekg(static_cast<std::streamoff>(block.address));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    return Bytes(std::move(bytes), where);
  };

  const Bytes prefix = read({address, kPrefixSize});
  if (prefix.number(0, 1) != kVersion1) return;
  std::vector<Block> blocks{{address + kPrefixSize, prefix.number(8, 4)}};
  std::optional<std::uint64_t> rank, chunks;
  for (std::size_t b = 0; b < blocks.size() && b < kMostBlocks; ++b) {
    const Bytes block = read(blocks[b]);
    for (std::size_t at = 0; at + kMessagePrefixSize <= block.size();) {
      const auto kind = block.number(at, 2), size = block.number(at + 2, 2);
      const bool shared = block.number(at + 4, 1) & kShared;
      const Bytes message = block.part(at + kMessagePrefixSize, size);
      at += kMessagePrefixSize + size;
      if (kind == kContinuation)
        blocks.push_back({message.number(0, 8), message.number(8, 8)});
      else if (kind == kDataspace && !shared)
        rank = message.number(1, 1);
      else if (kind == kDatatype && !shared)
        check_datatype(message);
      else if (kind == kLayout)
        chunks = chunk_rank(message);
    }
  }
  prefix.require(!chunks || !rank || *chunks == *rank);
}

}  // namespace kindred::hdf5
