#include "kindred/data/hdf5_chunks.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

#include "kindred/core/error.h"

namespace kindred::hdf5 {
namespace {

constexpr std::uintmax_t kChecksum = 4;          // what Fletcher's filter adds to a chunk
constexpr std::uintmax_t kMostChunks = 1 << 20;  // beyond that looking is too slow

/// How much `packed` inflates to, counted up to `enough`; nothing when it is damaged, which HDF5
/// notices itself.
std::optional<std::uintmax_t> inflated_size(std::span<unsigned char> packed,
                                            std::uintmax_t enough) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return std::nullopt;
  stream.next_in = packed.data();
  stream.avail_in = static_cast<uInt>(packed.size());
  std::array<unsigned char, 1 << 16> unpacked;
  int status = Z_OK;
  while (status == Z_OK && stream.total_out < enough) {
    stream.next_out = unpacked.data();
    stream.avail_out = static_cast<uInt>(unpacked.size());
    status = inflate(&stream, Z_NO_FLUSH);
  }
  inflateEnd(&stream);
  if (status != Z_OK && status != Z_STREAM_END) return std::nullopt;
  return stream.total_out;
}

/// A dataset in chunks, whose filters we know.
class Chunks {
 public:
  Chunks(const Handle& dataset, const std::vector<std::int64_t>& shape, std::uintmax_t element)
      : dataset_(dataset), shape_(shape.begin(), shape.end()), extents_(shape.size()) {
    const Handle creation(H5Dget_create_plist(dataset.get()));
    if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return;
    H5Pget_chunk(creation.get(), static_cast<int>(extents_.size()), extents_.data());
    bytes_ = std::accumulate(extents_.begin(), extents_.end(), element, std::multiplies<>());
    const int filters = std::max(H5Pget_nfilters(creation.get()), 0);
    for (unsigned i = 0; i < static_cast<unsigned>(filters); ++i) {
      unsigned flags = 0, config = 0;
      std::size_t values = 0;
      filters_.push_back(
          H5Pget_filter2(creation.get(), i, &flags, &values, nullptr, 0, nullptr, &config));
    }
    known_ = std::ranges::all_of(filters_, [](H5Z_filter_t filter) {
      return filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_DEFLATE ||
             filter == H5Z_FILTER_FLETCHER32;
    });
  }

  std::uintmax_t bytes() const { return bytes_; }

  /// Calls check(where the chunk begins) for every chunk there may be with some of these rows.
  void for_each(hsize_t begin, hsize_t end,
                const std::function<void(const std::vector<hsize_t>&)>& check) const {
    if (!known_ || bytes_ == 0) return;
    std::vector<hsize_t> at(shape_.size(), 0);
    std::uintmax_t count = 1;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      if (d == 0) at[d] = begin / extents_[d] * extents_[d];
      count *= ((d == 0 ? end - at[d] : shape_[d]) + extents_[d] - 1) / extents_[d];
    }
    if (count > kMostChunks) return;
    for (; count > 0; --count) {
      check(at);
      for (std::size_t d = at.size(); d-- > 0;) {
        at[d] += extents_[d];
        if (at[d] < shape_[d]) break;
        at[d] = 0;
      }
    }
  }

  /// What the chunk at `at` unpacks to; nothing where HDF5 finds none or will refuse it.
  std::optional<std::uintmax_t> unpacked_size(const std::vector<hsize_t>& at,
                                              std::uintmax_t file_size) const {
    unsigned skipped = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t stored = 0;
    if (H5Dget_chunk_info_by_coord(dataset_.get(), at.data(), &skipped, &address, &stored) < 0 ||
        address == HADDR_UNDEF)
      return std::nullopt;
    if (stored > file_size) return 0;
    std::uintmax_t size = stored;
    for (std::size_t i = filters_.size(); i-- > 0;) {  // undone in the opposite order
      if (i < 32 && (skipped >> i & 1u)) continue;
      if (filters_[i] == H5Z_FILTER_FLETCHER32) {
        if (size < kChecksum) return 0;
        size -= kChecksum;
      } else if (filters_[i] == H5Z_FILTER_DEFLATE) {
        std::vector<unsigned char> packed(stored);
        std::uint32_t mask = 0;
        if (H5Dread_chunk(dataset_.get(), H5P_DEFAULT, at.data(), &mask, packed.data()) < 0)
          return std::nullopt;
        const auto inflated = inflated_size(std::span(packed).first(static_cast<std::size_t>(size)),
                                            bytes_ + kChecksum);
        if (!inflated) return std::nullopt;
        size = *inflated;
      }
    }
    return size;
  }

 private:
  const Handle& dataset_;
  std::vector<hsize_t> shape_, extents_;
  std::uintmax_t bytes_ = 0;  ///< Of a chunk.
  std::vector<H5Z_filter_t> filters_;
  bool known_ = false;
};

}  // namespace

void check_chunks(const Handle& dataset, const std::vector<std::int64_t>& shape, std::int64_t begin,
                  std::int64_t end, std::uintmax_t element, std::uintmax_t file_size,
                  const std::string& where) {
  const Chunks chunks(dataset, shape, element);
  const auto from = static_cast<hsize_t>(begin), to = static_cast<hsize_t>(end);
  chunks.for_each(from, to, [&](const std::vector<hsize_t>& at) {
    const auto size = chunks.unpacked_size(at, file_size);
    if (size && *size < chunks.bytes())
      throw DataFormatError("{} has a chunk of {} bytes, expected {}; the file is corrupt", where,
                            *size, chunks.bytes());
  });
}

}  // namespace kindred::hdf5
