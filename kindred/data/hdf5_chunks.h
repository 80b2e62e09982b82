// The chunks of a dataset: unpacked by all threads of a pool, and checked where HDF5 reads them.
// Internal.
//
// HDF5 1.10 takes for granted that a chunk, unpacked, is as large as the dataset says; where damage
// to the index or to a filter makes it smaller, it reads beyond it
// (docs/decisions/0004-hdf5-corrupt-files.md). So every chunk is looked at, here or by Unpacker.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/thread_pool.h"
#include "kindred/data/hdf5_convert.h"
#include "kindred/data/hdf5_filters.h"
#include "kindred/data/hdf5_handle.h"

namespace kindred::hdf5 {

/// The filters of a dataset in the order in which they were applied; nothing when there is one that
/// hdf5_filters.h cannot undo.
std::optional<std::vector<Filter>> own_filters(const Handle& creation);

/// A dataset as its header describes it.
struct ChunkedDataset {
  const Handle& dataset;
  const Handle& type;  ///< Of its values.
  const std::vector<std::int64_t>& shape;
  const std::string& where;  ///< As messages begin.
  std::uintmax_t file_size;
};

/// Throws DataFormatError when a stored chunk with some of the rows [begin, end) is smaller than a
/// chunk. Datasets that are not chunked, or whose chunks are filtered, pass.
void check_chunks(const ChunkedDataset& dataset, std::int64_t begin, std::int64_t end);

/// A dataset in chunks to which filters were applied that hdf5_filters.h can undo. HDF5 says where
/// they are and gives their bytes, to one thread at a time; the rest is done by all.
class PackedChunks {
 public:
  /// Nothing when the dataset, made with `creation`, is stored in another way. `pool` may be empty:
  /// this thread alone.
  static std::optional<PackedChunks> find(const ChunkedDataset& dataset, Handle creation,
                                          std::shared_ptr<ThreadPool> pool);

  /// Rows of a chunk.
  std::int64_t rows() const { return static_cast<std::int64_t>(extents_[0]); }
  int threads() const { return pool_ ? pool_->threads() : 1; }

  /// Reads rows [begin, end) as T. Throws DataFormatError when a chunk is damaged: of several the
  /// first.
  template <class T>
  void read(const ChunkedDataset& dataset, std::int64_t begin, std::int64_t end, T* out) const;
  /// All values as they are in the file.
  void read_bytes(const ChunkedDataset& dataset, char* out) const;

 private:
  class Work;
  /// Takes the values of a whole chunk as the file has them, and where it begins.
  using Take = std::function<void(std::span<const char> values, const std::vector<hsize_t>& at)>;

  PackedChunks() = default;
  /// Every thread that takes part gets a Take of its own.
  void for_each(const ChunkedDataset& dataset, hsize_t begin, hsize_t end,
                const std::function<Take()>& make_take) const;
  /// Copies what a chunk at `at` has of rows [begin, end) to its place in `out`; a value is `width`
  /// times T.
  template <class T>
  void place(const T* values, const std::vector<hsize_t>& at, hsize_t begin, hsize_t end,
             std::size_t width, T* out) const;
  bool is_partial(const std::vector<hsize_t>& at) const;

  Handle creation_;
  std::vector<hsize_t> shape_, extents_;
  std::size_t bytes_ = 0;  ///< Of a chunk.
  std::vector<Filter> filters_;
  bool partial_as_they_are_ = false;  ///< Chunks that reach over the edge are not filtered.
  std::shared_ptr<ThreadPool> pool_;
};

}  // namespace kindred::hdf5
