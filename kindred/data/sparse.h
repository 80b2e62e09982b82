// Columns of which only some values are there: the rest costs addresses, but no memory.
#pragma once

#include <cstdint>
#include <memory>

#include "kindred/data/column.h"
#include "kindred/data/storage.h"

namespace kindred {

/// Zeros, each of which takes memory once it is written. Throws std::bad_alloc.
std::shared_ptr<void> allocate_sparse(std::int64_t bytes);

/// Values that are written before the column is read.
template <class T>
class NewColumn {
 public:
  /// `sparse`: where most of it will not be written.
  NewColumn(std::int64_t size, bool sparse) : size_(size) {
    if (sparse) {
      owner_ = allocate_sparse(size * static_cast<std::int64_t>(sizeof(T)));
      values_ = static_cast<T*>(owner_.get());
    } else {
      const auto bytes = static_cast<std::size_t>(size) * sizeof(T);
      owner_ = {allocate_values(bytes), [bytes](void* values) { free_values(values, bytes); }};
      values_ = static_cast<T*>(owner_.get());
    }
  }

  T* data() { return values_; }
  std::span<T> span() { return {values_, static_cast<std::size_t>(size_)}; }
  Column<T> column() const {
    return {std::span<const T>(values_, static_cast<std::size_t>(size_)), owner_};
  }

 private:
  std::int64_t size_;
  std::shared_ptr<void> owner_;
  T* values_ = nullptr;
};

}  // namespace kindred
