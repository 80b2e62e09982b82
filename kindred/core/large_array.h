// Arrays of millions of numbers, in large pages where the system has them: there are fewer of them
// to touch for the first time.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace kindred {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

using LargeArray = std::unique_ptr<double[], FreeMemory>;

/// Numbers that nobody has set. Throws std::bad_alloc.
LargeArray make_large_array(std::size_t count);

}  // namespace kindred
