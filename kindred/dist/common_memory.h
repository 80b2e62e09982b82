// Memory that all processes of a run see, where they are on one machine: what one of them writes
// there need not be sent to the others.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kindred/core/large_array.h"
#include "kindred/dist/communicator.h"

namespace kindred {

inline constexpr std::size_t kLargePage = std::size_t{1} << 21;

/// What ranks on one machine take their common memory from.
class CommonMemory {
 public:
  CommonMemory() = default;
  CommonMemory(const CommonMemory&) = delete;
  CommonMemory& operator=(const CommonMemory&) = delete;
  ~CommonMemory();

  /// So many bytes, zero at first, until the last rank has let go of them; null where the ranks
  /// cannot share any. It has no name on any disk, so that nothing stays behind when processes are
  /// killed. Every rank takes the same, but need not wait for the others: they meet in it only when
  /// all files are used up.
  std::shared_ptr<std::byte> take(Communicator& ranks, std::size_t bytes);

 private:
  /// False where not all ranks have them. Collective.
  bool make_files(Communicator& ranks);
  void close_files();

  std::vector<int> files_;  // in memory, still empty: finding each other's takes two exchanges
};

/// So many bytes more, so that what comes after them begins with a large page.
constexpr std::size_t whole_large_pages(std::size_t bytes) {
  return (bytes + kLargePage - 1) / kLargePage * kLargePage;
}

/// To be called for a part of common memory by the rank that will fill it, before it does: the part
/// then lies in large pages where the system has them, or else each small one costs microseconds.
void claim_memory(std::span<std::byte> part);

/// Rows of numbers that the ranks fill together, each its share: in common memory where there is
/// some, else each has its own copy. Nobody has set them.
template <class T>
class CommonArray {
 public:
  CommonArray() = default;
  /// Rank r fills rows [shares[r].begin, shares[r].end). Collective.
  CommonArray(Communicator& ranks, std::vector<Share> shares, std::int64_t row)
      : CommonArray(
            ranks, shares, row,
            ranks.common_memory(sizeof(T) * static_cast<std::size_t>(shares.back().end * row))) {}
  /// In memory that was asked for before; null where there is none to share.
  CommonArray(const Communicator& ranks, std::vector<Share> shares, std::int64_t row,
              std::shared_ptr<std::byte> memory)
      : shares_(std::move(shares)), row_(row), common_(std::move(memory)) {
    memory_ = common_;
    if (common_) {
      const auto& own = shares_[static_cast<std::size_t>(ranks.rank())];
      claim_memory({common_.get() + size_of(own.begin), size_of(own.size())});
    } else {
      const std::shared_ptr<double[]> own =
          make_large_array((size_of(shares_.back().end) + sizeof(double) - 1) / sizeof(double));
      memory_ = {own, reinterpret_cast<std::byte*>(own.get())};
    }
  }

  T* data() const { return reinterpret_cast<T*>(memory_.get()); }
  std::span<T> span() const { return {data(), size_of(shares_.back().end) / sizeof(T)}; }
  explicit operator bool() const { return memory_ != nullptr; }
  const std::shared_ptr<std::byte>& owner() const { return memory_; }

  /// Every rank has filled its share: everybody has all rows after it, which nobody may change from
  /// then on. Collective.
  void complete(Communicator& ranks) const { complete({this}, ranks); }
  /// The same of several at once, which takes as long as of one. Those that are null are left out.
  static void complete(std::initializer_list<const CommonArray*> arrays, Communicator& ranks) {
    bool common = false;
    for (const auto* array : arrays) {
      if (!array || !*array) continue;
      common = common || array->common_;
      if (!array->common_) exchange(ranks, array->shares_, array->row_, array->span());
    }
    if (common) meet(ranks);
  }

 private:
  std::size_t size_of(std::int64_t rows) const {
    return static_cast<std::size_t>(rows * row_) * sizeof(T);
  }

  std::vector<Share> shares_;
  std::int64_t row_ = 0;
  std::shared_ptr<std::byte> common_, memory_;
};

}  // namespace kindred
