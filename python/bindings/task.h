// Work on a thread of its own: Python waits for it a little at a time, so that it can be
// interrupted and show progress, and no thread of Kindred's ever calls Python.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "bindings.h"
#include "kindred/core/progress.h"

namespace kindred::python {

/// Whatever the work uses must live longer.
class Task {
 public:
  Task(RunContext run, std::function<void(const RunContext&)> work) {
    run.stop_requested = [this] { return stop_.load(std::memory_order_relaxed); };
    run.progress = [this](const Progress& progress) {
      const std::lock_guard lock(mutex_);
      progress_ = progress;
      if (progress.stage == "round") round_ = progress;
    };
    thread_ =
        std::thread([this, run = std::move(run), work = std::move(work)] { carry_out(run, work); });
  }

  ~Task() {
    stop_ = true;
    const nb::gil_scoped_release released;
    thread_.join();
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  void stop() { stop_ = true; }

  /// Whether it ended; waits at most so many seconds for that.
  bool wait(double seconds) {
    const nb::gil_scoped_release released;
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return done_; });
  }

  /// The last report, or the last round's once, which others may have followed at once.
  std::tuple<std::string, std::int64_t, std::int64_t, double, double> progress() {
    const std::lock_guard lock(mutex_);
    const auto round = std::exchange(round_, std::nullopt);
    const auto& last = round ? *round : progress_;
    return {last.stage, last.iteration, last.max_iterations, last.fraction, last.objective};
  }

  /// Throws what ended it, if something did.
  void check() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void carry_out(const RunContext& run, const std::function<void(const RunContext&)>& work) {
    std::exception_ptr error;
    try {
      work(run);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    error_ = error;
    done_ = true;
    ended_.notify_all();
  }

  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  Progress progress_;
  std::optional<Progress> round_;  // that nobody has asked for yet
  std::exception_ptr error_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace kindred::python
