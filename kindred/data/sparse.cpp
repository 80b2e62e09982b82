#include "kindred/data/sparse.h"

#include <sys/mman.h>

#include <new>

namespace kindred {

std::shared_ptr<void> allocate_sparse(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  const auto size = static_cast<std::size_t>(bytes);
  void* const place = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  return {place, [size](void* mapped) { ::munmap(mapped, size); }};
}

}  // namespace kindred
