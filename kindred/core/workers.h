// What a long computation works with: the threads it may use, and the request to stop.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>

#include "kindred/core/thread_pool.h"

namespace kindred {

/// Work was given up because a stop was requested. Not an Error: nothing is wrong.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped on request"; }
};

/// Copies share one pool. Functions that take Workers throw Interrupted within a second of a
/// request to stop; what they were making is then lost.
struct Workers {
  /// Every core.
  Workers() : Workers(0) {}
  /// `threads` = 0 means every core.
  explicit Workers(int threads) : pool(std::make_shared<ThreadPool>(threads)) {}

  std::shared_ptr<ThreadPool> pool;  ///< Never empty.
  /// Asked from any thread, every few milliseconds, so it has to be quick: the value of an atomic
  /// flag. Once true it stays true. May be empty: never stop early.
  std::function<bool()> stop_requested;

  bool should_stop() const { return stop_requested && stop_requested(); }
  /// Throws Interrupted.
  void throw_if_stopped() const {
    if (should_stop()) throw Interrupted();
  }

  /// As ThreadPool::chunks, asking before every chunk whether to stop.
  void chunks(std::int64_t count, std::int64_t chunk, const ThreadPool::Body& body,
              const std::function<void()>& meanwhile = {}) const {
    pool->chunks(
        count, chunk,
        [&](std::int64_t begin, std::int64_t end) {
          throw_if_stopped();
          body(begin, end);
        },
        meanwhile);
  }
};

}  // namespace kindred
