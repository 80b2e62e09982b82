#include "kindred/data/hdf5_filters.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "kindred/core/error.h"

namespace kindred::hdf5 {
namespace {

constexpr std::size_t kChecksumBytes = 4;

unsigned byte_at(std::span<const char> bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

/// HDF5 stores the checksum with its lowest byte first; versions before 1.6.3 had the bytes of both
/// halves the other way round.
bool checksum_fits(std::span<const char> bytes, std::span<const char> stored) {
  const auto sum = fletcher32(bytes);
  const auto swapped = (sum & 0x00ff00ffu) << 8 | (sum >> 8 & 0x00ff00ffu);
  std::uint32_t expected = 0;
  for (std::size_t i = kChecksumBytes; i-- > 0;) expected = expected << 8 | byte_at(stored, i);
  return expected == sum || expected == swapped;
}

/// A size known when compiled lets the compiler do several values at once.
template <std::size_t size>
void unshuffle_values(const char* shuffled, std::size_t count, char* out) {
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t b = 0; b < size; ++b) out[i * size + b] = shuffled[b * count + i];
}

}  // namespace

std::optional<std::size_t> expand_lzf(std::span<const char> packed, std::span<char> out) {
  constexpr unsigned kLiterals = 32;   // below: that many bytes and one more follow as they are
  constexpr unsigned kLongLength = 7;  // the length goes on in the next byte
  std::size_t at = 0, filled = 0;
  while (at < packed.size()) {
    const unsigned control = byte_at(packed, at++);
    if (control < kLiterals) {
      const std::size_t count = control + 1;
      if (count > packed.size() - at || count > out.size() - filled) return std::nullopt;
      std::memcpy(out.data() + filled, packed.data() + at, count);
      at += count;
      filled += count;
      continue;
    }
    std::size_t length = control >> 5;
    if (packed.size() - at < (length == kLongLength ? 2u : 1u)) return std::nullopt;
    if (length == kLongLength) length += byte_at(packed, at++);
    length += 2;
    const std::size_t distance = ((control & 31u) << 8 | byte_at(packed, at++)) + 1;
    if (distance > filled || length > out.size() - filled) return std::nullopt;
    for (; length > 0; --length, ++filled)  // byte by byte: it may repeat what it has just written
      out[filled] = out[filled - distance];
  }
  return filled;
}

std::uint32_t fletcher32(std::span<const char> bytes) {
  constexpr std::size_t kWordsBetweenFolds = 360;  // the sums cannot overflow before
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffu) + (sum >> 16); };
  std::uint32_t sum = 0, sum_of_sums = 0;
  const auto add = [&](std::uint32_t word) { sum_of_sums += sum += word; };
  const std::size_t whole = bytes.size() / 2 * 2;
  for (std::size_t at = 0; at < whole;) {
    const std::size_t stop = std::min(whole, at + 2 * kWordsBetweenFolds);
    for (; at < stop; at += 2) add(byte_at(bytes, at) << 8 | byte_at(bytes, at + 1));
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  if (whole < bytes.size()) {
    add(byte_at(bytes, whole) << 8);
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  return fold(sum_of_sums) << 16 | fold(sum);
}

void unshuffle(std::span<const char> shuffled, std::size_t element, std::span<char> out) {
  const std::size_t count = element > 1 ? shuffled.size() / element : 0;
  const std::size_t whole = count * element;
  if (element == 2)
    unshuffle_values<2>(shuffled.data(), count, out.data());
  else if (element == 4)
    unshuffle_values<4>(shuffled.data(), count, out.data());
  else if (element == 8)
    unshuffle_values<8>(shuffled.data(), count, out.data());
  else
    for (std::size_t i = 0; i < whole; ++i) out[i] = shuffled[i % element * count + i / element];
  std::ranges::copy(shuffled.subspan(whole), out.begin() + static_cast<std::ptrdiff_t>(whole));
}

Unpacker::Unpacker(std::vector<Filter> filters, std::size_t bytes, std::string where)
    : filters_(std::move(filters)), bytes_(bytes), where_(std::move(where)) {
  // HDF5 gives a compressor that much for what does not compress; every checksum adds to it.
  room_ = bytes + bytes / 1000 + 16 + kChecksumBytes * filters_.size();
}

Unpacker::~Unpacker() { libdeflate_free_decompressor(inflater_); }

std::span<const char> Unpacker::unpack(std::span<const char> packed, std::uint32_t skipped) {
  bool sums_fit = true;
  for (std::size_t i = filters_.size(); i-- > 0;) {
    if (i < 32 && (skipped >> i & 1u)) continue;
    switch (filters_[i].kind) {
      case Filter::kChecksum: {
        const std::size_t size = packed.size() - std::min(kChecksumBytes, packed.size());
        sums_fit &= packed.size() >= kChecksumBytes &&
                    checksum_fits(packed.first(size), packed.last(kChecksumBytes));
        packed = packed.first(size);
        break;
      }
      case Filter::kDeflate:
        packed = inflate(packed);
        break;
      case Filter::kLzf:
        packed = expand(packed);
        break;
      case Filter::kShuffle: {
        if (filters_[i].element <= 1) break;
        if (packed.size() > room_) refuse_size(packed.size());
        const auto out = buffer_beside(packed).first(packed.size());
        unshuffle(packed, filters_[i].element, out);
        packed = out;
      }
    }
  }
  if (packed.size() < bytes_) refuse_size(packed.size());
  if (!sums_fit) refuse("whose checksum is wrong");
  return packed.first(bytes_);
}

std::span<char> Unpacker::buffer_beside(std::span<const char> busy) {
  auto& buffer = buffers_[buffers_[0] && busy.data() == buffers_[0].get() ? 1 : 0];
  if (!buffer) buffer = std::make_unique_for_overwrite<char[]>(room_);
  return {buffer.get(), room_};
}

std::span<const char> Unpacker::inflate(std::span<const char> packed) {
  if (!inflater_ && !(inflater_ = libdeflate_alloc_decompressor())) throw std::bad_alloc();
  const auto out = buffer_beside(packed);
  std::size_t read = 0, size = 0;  // HDF5 does not mind what follows the end of the stream
  if (libdeflate_zlib_decompress_ex(inflater_, packed.data(), packed.size(), out.data(), out.size(),
                                    &read, &size) != LIBDEFLATE_SUCCESS)
    refuse("that cannot be inflated");
  return out.first(size);
}

std::span<const char> Unpacker::expand(std::span<const char> packed) {
  const auto out = buffer_beside(packed);
  const auto size = expand_lzf(packed, out);
  if (!size) refuse("that is not in LZF, as it should be");
  return out.first(*size);
}

void Unpacker::refuse_size(std::size_t size) const {
  throw DataFormatError("{} has a chunk of {} bytes, expected {}; the file is corrupt", where_,
                        size, bytes_);
}

void Unpacker::refuse(const char* problem) const {
  throw DataFormatError("{} has a chunk {}; the file is truncated or corrupt", where_, problem);
}

}  // namespace kindred::hdf5
