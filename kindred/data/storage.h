// Where the values of columns lie: in memory, or, while a promise of memory stands
// (memory_promise.h), in a scratch file without a name that is mapped like memory. The one place
// where that is chosen.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace kindred {

/// Zeros. Throws std::bad_alloc, or IoError when the disk has no room for them.
void* allocate_values(std::size_t bytes);
void free_values(void* values, std::size_t bytes) noexcept;

template <class T>
struct ValueAllocator {
  using value_type = T;
  using is_always_equal = std::true_type;

  ValueAllocator() = default;
  template <class U>
  ValueAllocator(const ValueAllocator<U>&) {}  // NOLINT: as allocators are

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_values(count * sizeof(T))); }
  void deallocate(T* values, std::size_t count) { free_values(values, count * sizeof(T)); }
  bool operator==(const ValueAllocator&) const { return true; }
};

/// For what there is one of per step: a vector that may lie in a scratch file.
template <class T>
using StepValues = std::vector<T, ValueAllocator<T>>;

}  // namespace kindred
