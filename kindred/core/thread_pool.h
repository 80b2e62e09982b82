// Threads that share out ranges of work. Work is cut into chunks whose bounds depend only on the
// count, so results that are combined per chunk do not depend on how many threads ran.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kindred {

/// The caller of chunks() is one of the threads; the others are started when they are first needed
/// and wait between two calls. Several threads may use one pool at the same time, and a body may
/// use the pool it runs on: every caller works on its own chunks, helps with what these ask for in
/// turn, and waits only for what is already running, so all of them get on.
class ThreadPool {
 public:
  using Body = std::function<void(std::int64_t begin, std::int64_t end)>;

  /// `threads` = 0 means every core.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Calls body(begin, end) for consecutive chunks of at most `chunk` items covering [0, count).
  /// Rethrows the first exception a body threw; chunks that had not begun by then are left out.
  /// `meanwhile`, which may be empty, is called on the calling thread: after each chunk it did
  /// itself, every 50 ms while it waits for the others, and at the end.
  void chunks(std::int64_t count, std::int64_t chunk, const Body& body,
              const std::function<void()>& meanwhile = {});

 private:
  struct Job;
  void start_helpers(std::int64_t wanted);
  void help();
  /// With the lock held before and after.
  void help_with(Job& job, std::unique_lock<std::mutex>& lock);
  Job* open_job() const;

  const int threads_;
  std::mutex mutex_;
  std::condition_variable work_to_do_, helper_left_;
  std::vector<Job*> jobs_;            // calls of chunks() in progress
  std::vector<std::thread> helpers_;  // at most threads_ - 1
  bool closing_ = false;
};

}  // namespace kindred
