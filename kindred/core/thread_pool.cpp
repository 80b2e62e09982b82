#include "kindred/core/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace kindred {
namespace {

constexpr std::chrono::milliseconds kMeanwhile{50};

}  // namespace

/// One call of chunks().
struct ThreadPool::Job {
  static thread_local const Job* current;  // whose chunk this thread works on

  const Body& body;
  std::int64_t count, chunk, chunks;
  const Job* within = current;        // the one whose body asked for it
  std::atomic<std::int64_t> next{0};  // the first chunk nobody has begun
  std::int64_t helpers = 0;           // at work on it; under the pool's mutex
  std::mutex failing{};
  std::exception_ptr failure{};

  bool open() const { return next < chunks; }

  /// Whether the other cannot end before this one has.
  bool delays(const Job& other) const {
    const Job* outer = within;
    while (outer && outer != &other) outer = outer->within;
    return outer;
  }

  void fail() {
    const std::lock_guard lock(failing);
    if (!failure) failure = std::current_exception();
    next = chunks;
  }

  void work(const std::function<void()>& after_each) {
    const Job* const outer = std::exchange(current, this);
    try {
      for (auto i = next++; i < chunks; i = next++) {
        body(i * chunk, std::min(count, (i + 1) * chunk));
        if (after_each) after_each();
      }
    } catch (...) {
      fail();
    }
    current = outer;
  }
};

thread_local const ThreadPool::Job* ThreadPool::Job::current = nullptr;

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? threads
                           : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_to_do_.notify_all();
  for (auto& helper : helpers_) helper.join();
}

void ThreadPool::chunks(std::int64_t count, std::int64_t chunk, const Body& body,
                        const std::function<void()>& meanwhile) {
  if (count <= 0) return;
  chunk = std::max<std::int64_t>(chunk, 1);
  Job job{body, count, chunk, (count - 1) / chunk + 1};
  const bool shared = threads_ > 1 && job.chunks > 1;
  if (shared) {
    const std::lock_guard lock(mutex_);
    start_helpers(job.chunks - 1);
    jobs_.push_back(&job);
    for (auto i = std::min(std::ssize(helpers_), job.chunks - 1); i > 0; --i)
      work_to_do_.notify_one();
    if (job.within) helper_left_.notify_all();  // who waits for what is around it can help
  }
  job.work(meanwhile);
  if (shared) {
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    const auto alone = [&] { return job.helpers == 0; };
    while (meanwhile && !helper_left_.wait_for(lock, kMeanwhile, alone)) {
      lock.unlock();
      try {
        meanwhile();
      } catch (...) {
        job.fail();
      }
      lock.lock();
    }
    Job* inner = nullptr;  // to be done before this one is
    const auto may_go_on = [&] {
      const auto found = std::ranges::find_if(
          jobs_, [&](const Job* other) { return other->open() && other->delays(job); });
      inner = found == jobs_.end() ? nullptr : *found;
      return inner || alone();
    };
    while (helper_left_.wait(lock, may_go_on), inner) help_with(*inner, lock);
  }
  if (job.failure) std::rethrow_exception(job.failure);
  if (meanwhile) meanwhile();
}

/// With the mutex held.
void ThreadPool::start_helpers(std::int64_t wanted) {
  wanted = std::min<std::int64_t>(wanted, threads_ - 1);
  try {
    while (std::ssize(helpers_) < wanted) helpers_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {  // the system has no more threads: fewer will do
  }
}

ThreadPool::Job* ThreadPool::open_job() const {
  const auto found = std::ranges::find_if(jobs_, &Job::open);
  return found == jobs_.end() ? nullptr : *found;
}

void ThreadPool::help() {
  for (std::unique_lock lock(mutex_);;) {
    Job* job = nullptr;
    work_to_do_.wait(lock, [&] { return closing_ || (job = open_job()); });
    if (!job) return;
    help_with(*job, lock);
  }
}

void ThreadPool::help_with(Job& job, std::unique_lock<std::mutex>& lock) {
  ++job.helpers;
  lock.unlock();
  job.work({});
  lock.lock();
  if (--job.helpers == 0) helper_left_.notify_all();
}

}  // namespace kindred
