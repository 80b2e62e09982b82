#include "kindred/data/hdf5_chunks.h"

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <mutex>
#include <numeric>

#include "kindred/core/error.h"

namespace kindred::hdf5 {
namespace {

constexpr std::uintmax_t kMostChunks = 1 << 20;     // beyond that looking is too slow
constexpr std::size_t kUnpackingBytes = 256 << 20;  // in work, unless one chunk alone is larger
constexpr std::size_t kBuffersOfChunk = 4;          // stored, twice unpacked, converted
constexpr std::uintmax_t kTurnsOfThread = 4;        // so that none waits long for the last

/// How many chunks it takes to cover `extent`.
hsize_t chunks_over(hsize_t extent, hsize_t chunk) { return (extent + chunk - 1) / chunk; }

/// One extent of a box of values that is copied from a chunk into a larger array.
struct Stride {
  std::size_t count, from, to;
};

/// Joins extents that lie one after the other in both arrays, and leaves out those of 1.
std::vector<Stride> simplified(const std::vector<Stride>& box) {
  std::vector<Stride> simple;
  for (const auto& inner : box) {
    if (inner.count == 1) continue;
    if (!simple.empty() && simple.back().from == inner.count * inner.from &&
        simple.back().to == inner.count * inner.to)
      simple.back() = {simple.back().count * inner.count, inner.from, inner.to};
    else
      simple.push_back(inner);
  }
  if (simple.empty()) simple.push_back({1, 1, 1});
  return simple;
}

template <class T>
void copy_run(const T* from, const Stride& run, T* to) {
  constexpr std::size_t kShort = 16;  // a call would take longer than the copy
  if (run.from == 1 && run.to == 1 && run.count > kShort)
    std::copy_n(from, run.count, to);
  else
    for (std::size_t i = 0; i < run.count; ++i) to[i * run.to] = from[i * run.from];
}

template <class T>
void copy_box(const T* from, std::span<const Stride> box, T* to) {
  if (box.size() == 1) return copy_run(from, box[0], to);
  for (std::size_t i = 0; i < box[0].count; ++i, from += box[0].from, to += box[0].to)
    if (box.size() == 2)
      copy_run(from, box[1], to);
    else
      copy_box(from, box.subspan(1), to);
}

}  // namespace

std::optional<std::vector<Filter>> own_filters(const Handle& creation) {
  std::vector<Filter> filters;
  const int count = std::max(H5Pget_nfilters(creation.get()), 0);
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    unsigned flags = 0, config = 0;
    std::array<unsigned, 4> values{};
    std::size_t known = values.size();
    switch (H5Pget_filter2(creation.get(), i, &flags, &known, values.data(), 0, nullptr, &config)) {
      case H5Z_FILTER_SHUFFLE:
        if (known != 1 || values[0] == 0) return std::nullopt;
        filters.push_back({Filter::kShuffle, values[0]});
        break;
      case H5Z_FILTER_DEFLATE:
        filters.push_back({Filter::kDeflate});
        break;
      case H5Z_FILTER_FLETCHER32:
        filters.push_back({Filter::kChecksum});
        break;
      case kLzfFilter:
        filters.push_back({Filter::kLzf});
        break;
      default:
        return std::nullopt;
    }
  }
  return filters;
}

void check_chunks(const ChunkedDataset& dataset, std::int64_t begin, std::int64_t end) {
  const Handle creation(H5Dget_create_plist(dataset.dataset.get()));
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED || H5Pget_nfilters(creation.get()) != 0) return;
  const std::vector<hsize_t> shape(dataset.shape.begin(), dataset.shape.end());
  std::vector<hsize_t> extents(shape.size());
  H5Pget_chunk(creation.get(), static_cast<int>(extents.size()), extents.data());
  const auto bytes =
      std::accumulate(extents.begin(), extents.end(),
                      std::uintmax_t{H5Tget_size(dataset.type.get())}, std::multiplies<>());
  std::vector<hsize_t> at(shape.size(), 0);
  at[0] = static_cast<hsize_t>(begin) / extents[0] * extents[0];
  auto count = std::uintmax_t{chunks_over(static_cast<hsize_t>(end) - at[0], extents[0])};
  for (std::size_t d = 1; d < shape.size(); ++d) count *= chunks_over(shape[d], extents[d]);
  if (bytes == 0 || count > kMostChunks) return;
  for (; count > 0; --count) {
    unsigned skipped = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t stored = 0;
    if (H5Dget_chunk_info_by_coord(dataset.dataset.get(), at.data(), &skipped, &address, &stored) >=
            0 &&
        address != HADDR_UNDEF && (stored < bytes || stored > dataset.file_size))
      throw DataFormatError("{} has a chunk of {} bytes, expected {}; the file is corrupt",
                            dataset.where, stored, bytes);
    for (std::size_t d = at.size(); d-- > 0;) {
      at[d] += extents[d];
      if (at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

std::optional<PackedChunks> PackedChunks::find(const ChunkedDataset& dataset, Handle creation,
                                               std::shared_ptr<ThreadPool> pool) {
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return std::nullopt;
  auto filters = own_filters(creation);
  if (!filters || filters->empty()) return std::nullopt;
  PackedChunks chunks;
  chunks.creation_ = std::move(creation);
  chunks.filters_ = std::move(*filters);
  chunks.shape_.assign(dataset.shape.begin(), dataset.shape.end());
  chunks.extents_.resize(chunks.shape_.size());
  H5Pget_chunk(chunks.creation_.get(), static_cast<int>(chunks.extents_.size()),
               chunks.extents_.data());
  chunks.bytes_ = std::accumulate(chunks.extents_.begin(), chunks.extents_.end(),
                                  H5Tget_size(dataset.type.get()), std::multiplies<std::size_t>());
  if (chunks.bytes_ == 0) return std::nullopt;
  unsigned choices = 0;
  H5Pget_chunk_opts(chunks.creation_.get(), &choices);
  chunks.partial_as_they_are_ = (choices & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
  chunks.pool_ = std::move(pool);
  return chunks;
}

bool PackedChunks::is_partial(const std::vector<hsize_t>& at) const {
  for (std::size_t d = 0; d < at.size(); ++d)
    if (at[d] + extents_[d] > shape_[d]) return true;
  return false;
}

/// The chunks of one read, shared out among threads. They are begun in order, so when several are
/// damaged, those before the first have been begun as well: which one is told of does not depend on
/// the threads.
class PackedChunks::Work {
 public:
  Work(const PackedChunks& chunks, const ChunkedDataset& dataset, hsize_t begin, hsize_t end)
      : chunks_(chunks), dataset_(dataset), in_row_(chunks.shape_.size(), 1) {
    std::uintmax_t in_band = 1;  // chunks with the same rows
    for (std::size_t d = in_row_.size(); d-- > 1;) {
      in_row_[d] = chunks_over(chunks.shape_[d], chunks.extents_[d]);
      in_band *= in_row_[d];
    }
    const auto first_band = begin / chunks.extents_[0];
    const auto last_band = chunks_over(end, chunks.extents_[0]);
    next_ = first_band * in_band;
    last_ = failed_ = last_band * in_band;
    const auto most = std::max<std::size_t>(1, kUnpackingBytes / kBuffersOfChunk / chunks.bytes_);
    threads_ = std::min<std::uintmax_t>(most, static_cast<std::uintmax_t>(chunks.threads()));
    // A thread takes all chunks with the same rows, whose values lie side by side in the result.
    turn_ = last_band - first_band >= kTurnsOfThread * threads_
                ? std::max<std::uintmax_t>(in_band, 1)
                : 1;
    threads_ = std::min(threads_, (last_ - next_ + turn_ - 1) / turn_);
  }

  void do_all(const std::function<Take()>& make_take) {
    if (threads_ > 1)
      chunks_.pool_->chunks(static_cast<std::int64_t>(threads_), 1,
                            [&](std::int64_t, std::int64_t) { take_turns(make_take()); });
    else if (threads_ == 1)
      take_turns(make_take());
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void take_turns(const Take& take) {
    Unpacker unpacker(chunks_.filters_, chunks_.bytes_, dataset_.where);
    std::vector<char> stored, fill;
    for (;;) {
      std::uintmax_t index = 0, stop = 0;
      {
        const std::lock_guard lock(mutex_);
        index = next_;
        next_ = stop = std::min(last_, next_ + turn_);
      }
      if (index == stop) return;
      try {
        for (; index < stop; ++index) {
          const auto at = place_of(index);
          if (const auto skipped = read_stored(at, stored)) {
            take(unpacker.unpack(stored, *skipped), at);
          } else {
            if (fill.empty()) fill = fill_values();
            take(fill, at);
          }
        }
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (index < failed_) {
          failed_ = index;
          failure_ = std::current_exception();
        }
        next_ = last_;
      }
    }
  }

  std::vector<hsize_t> place_of(std::uintmax_t index) const {
    std::vector<hsize_t> at(chunks_.shape_.size());
    for (std::size_t d = at.size(); d-- > 1; index /= in_row_[d])
      at[d] = index % in_row_[d] * chunks_.extents_[d];
    at[0] = index * chunks_.extents_[0];
    return at;
  }

  /// The chunk as it is stored, and which filters were skipped; nothing when it was never written.
  std::optional<std::uint32_t> read_stored(const std::vector<hsize_t>& at,
                                           std::vector<char>& stored) const {
    const std::lock_guard lock(library_mutex());
    silence_errors();  // with an HDF5 that knows threads each has its own
    const hid_t dataset = dataset_.dataset.get();
    hsize_t size = 0;
    if (H5Dget_chunk_storage_size(dataset, at.data(), &size) < 0) {
      const auto cause = last_error();
      if (is_missing(at)) return std::nullopt;
      refuse(cause);
    }
    if (size > dataset_.file_size) refuse("a chunk is larger than the file");
    stored.resize(std::max<std::size_t>(size, 1));  // one that is not there may count as empty
    std::uint32_t skipped = 0;
    if (H5Dread_chunk(dataset, H5P_DEFAULT, at.data(), &skipped, stored.data()) < 0) {
      const auto cause = last_error();
      if (size == 0 && is_missing(at)) return std::nullopt;
      refuse(cause);
    }
    stored.resize(size);
    const bool as_it_is = chunks_.partial_as_they_are_ && chunks_.is_partial(at);
    return as_it_is ? ~std::uint32_t{0} : skipped;
  }

  /// Asked last: HDF5 looks through all chunks for the answer.
  bool is_missing(const std::vector<hsize_t>& at) const {
    unsigned skipped = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t size = 0;
    return H5Dget_chunk_info_by_coord(dataset_.dataset.get(), at.data(), &skipped, &address,
                                      &size) >= 0 &&
           address == HADDR_UNDEF;
  }

  [[noreturn]] void refuse(const std::string& cause) const {
    throw DataFormatError("{}: cannot read its chunks; the file is truncated or corrupt (HDF5: {})",
                          dataset_.where, cause);
  }

  /// What stands for a chunk that was never written.
  std::vector<char> fill_values() const {
    const std::lock_guard lock(library_mutex());
    std::vector<char> values(chunks_.bytes_, 0);
    const std::size_t size = H5Tget_size(dataset_.type.get());
    H5D_fill_value_t known = H5D_FILL_VALUE_UNDEFINED;
    if (H5Pfill_value_defined(chunks_.creation_.get(), &known) < 0 ||
        known == H5D_FILL_VALUE_UNDEFINED)
      return values;
    if (H5Pget_fill_value(chunks_.creation_.get(), dataset_.type.get(), values.data()) < 0)
      refuse(last_error());
    for (std::size_t at = size; at < values.size(); at += size)
      std::copy_n(values.data(), size, values.data() + at);
    return values;
  }

  const PackedChunks& chunks_;
  const ChunkedDataset& dataset_;
  std::vector<hsize_t> in_row_;  ///< Chunks along each extent.
  std::uintmax_t turn_ = 1, threads_ = 1;
  std::mutex mutex_;
  std::uintmax_t next_ = 0, last_ = 0;
  std::uintmax_t failed_ = 0;
  std::exception_ptr failure_;  ///< Of the chunk `failed_`.
};

void PackedChunks::for_each(const ChunkedDataset& dataset, hsize_t begin, hsize_t end,
                            const std::function<Take()>& make_take) const {
  Work(*this, dataset, begin, end).do_all(make_take);
}

template <class T>
void PackedChunks::place(const T* values, const std::vector<hsize_t>& at, hsize_t begin,
                         hsize_t end, std::size_t width, T* out) const {
  std::vector<Stride> box(at.size() + 1);
  box.back() = {width, 1, 1};
  std::size_t from = width, to = width;
  for (std::size_t d = at.size(); d-- > 0;) {
    const auto first = d == 0 ? std::max(at[0], begin) : at[d];
    const auto last = std::min(at[d] + extents_[d], d == 0 ? end : shape_[d]);
    box[d] = {last - first, from, to};
    values += (first - at[d]) * from;
    out += (d == 0 ? first - begin : first) * to;
    from *= extents_[d];
    to *= shape_[d];
  }
  copy_box<T>(values, simplified(box), out);
}

template <class T>
void PackedChunks::read(const ChunkedDataset& dataset, std::int64_t begin, std::int64_t end,
                        T* out) const {
  const Conversion<T> convert(dataset.type, dataset.where);
  const auto from = static_cast<hsize_t>(begin), to = static_cast<hsize_t>(end);
  for_each(dataset, from, to, [&]() -> Take {
    if (convert.is_copy())
      return [=, this](std::span<const char> values, const std::vector<hsize_t>& at) {
        place(reinterpret_cast<const T*>(values.data()), at, from, to, 1, out);
      };
    const auto numbers = std::make_shared<std::vector<T>>(bytes_ / convert.size());
    return [=, this, &convert](std::span<const char> values, const std::vector<hsize_t>& at) {
      convert(values, numbers->data());
      place(numbers->data(), at, from, to, 1, out);
    };
  });
}

void PackedChunks::read_bytes(const ChunkedDataset& dataset, char* out) const {
  const auto width = H5Tget_size(dataset.type.get());
  for_each(dataset, 0, shape_[0], [&]() -> Take {
    return [=, this](std::span<const char> values, const std::vector<hsize_t>& at) {
      place(values.data(), at, 0, shape_[0], width, out);
    };
  });
}

#define KINDRED_INSTANTIATE(T) \
  template void PackedChunks::read(const ChunkedDataset&, std::int64_t, std::int64_t, T*) const;
KINDRED_INSTANTIATE(float)
KINDRED_INSTANTIATE(double)
KINDRED_INSTANTIATE(std::uint8_t)
KINDRED_INSTANTIATE(std::int32_t)
KINDRED_INSTANTIATE(std::int64_t)
#undef KINDRED_INSTANTIATE

}  // namespace kindred::hdf5
