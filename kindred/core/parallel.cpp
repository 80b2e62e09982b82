#include "kindred/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kindred {

void parallel_chunks(std::int64_t count, std::int64_t chunk, int threads,
                     const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (count <= 0) return;
  chunk = std::max<std::int64_t>(chunk, 1);
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;

  const auto work = [&] {
    for (std::int64_t i = next++; i < chunks; i = next++) {
      try {
        body(i * chunk, std::min(count, (i + 1) * chunk));
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = chunks;
      }
    }
  };

  const auto helpers = std::min<std::int64_t>(resolve_threads(threads), chunks) - 1;
  std::vector<std::jthread> pool;
  for (std::int64_t i = 0; i < helpers; ++i) pool.emplace_back(work);
  work();
  pool.clear();
  if (failure) std::rethrow_exception(failure);
}

int resolve_threads(int requested) {
  if (requested > 0) return requested;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace kindred
