// Splits a range over threads. Work is cut into chunks whose bounds depend only on the count, so
// results that are combined per chunk do not depend on how many threads ran.
#pragma once

#include <cstdint>
#include <functional>

namespace kindred {

/// Calls body(begin, end) for consecutive chunks of at most `chunk` items covering [0, count), on
/// up to `threads` threads. Rethrows the first exception a body threw.
void parallel_chunks(std::int64_t count, std::int64_t chunk, int threads,
                     const std::function<void(std::int64_t begin, std::int64_t end)>& body);

/// The number of threads to use when the user asked for `requested` (0 means every core).
int resolve_threads(int requested);

}  // namespace kindred
