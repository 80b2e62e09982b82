// Progress of work that several threads do together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "kindred/core/stopwatch.h"

namespace kindred {

/// Every thread counts; only the one that made this tells how far things are, at most every 50 ms
/// and once all is done.
class SharedProgress {
 public:
  /// `tell` may be empty.
  SharedProgress(std::int64_t total, std::function<void(double fraction)> tell)
      : total_(total), tell_(std::move(tell)) {}

  /// From any thread.
  void add(std::int64_t count = 1) {
    done_ += count;
    tell();
  }

  /// Does nothing on other threads, or where nothing new is to be told.
  void tell() {
    if (!tell_ || std::this_thread::get_id() != owner_) return;
    const std::int64_t done = done_;
    if (done == told_ || (done < total_ && since_ && since_->seconds() < kSeconds)) return;
    told_ = done;
    since_ = Stopwatch();
    tell_(done < total_ ? static_cast<double>(done) / static_cast<double>(total_) : 1.0);
  }

 private:
  static constexpr double kSeconds = 0.05;

  const std::thread::id owner_ = std::this_thread::get_id();
  const std::int64_t total_;
  const std::function<void(double)> tell_;
  std::atomic<std::int64_t> done_{0};
  std::int64_t told_ = 0;           // of the owner alone, as the next
  std::optional<Stopwatch> since_;  // it was last told
};

}  // namespace kindred
