#include "kindred/core/large_array.h"

#include <sys/mman.h>

#include <new>

namespace kindred {

LargeArray make_large_array(std::size_t count) {
  constexpr std::size_t kLargePage = std::size_t{1} << 21;
  const auto bytes = count * sizeof(double);
  const bool large = bytes >= kLargePage;
  const auto size = large ? (bytes + kLargePage - 1) / kLargePage * kLargePage : bytes;
  void* const memory = large ? std::aligned_alloc(kLargePage, size) : std::malloc(size);
  if (!memory && size > 0) throw std::bad_alloc();
  // The last may be used a little only, and small ones do for that.
  if (large) ::madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
  return LargeArray(static_cast<double*>(memory));
}

}  // namespace kindred
