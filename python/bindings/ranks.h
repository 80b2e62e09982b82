// The processes that share a fit, as Python sees them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "kindred/dist/place.h"

namespace kindred::python {

/// That another process is gone, as the watch found out; whoever waits for it cannot be told.
class Loss {
 public:
  void note(const std::string& line) {
    const std::lock_guard lock(mutex_);
    line_ = line;
    known_ = true;
  }
  /// Asked often.
  bool known() const { return known_; }
  std::string line() const {
    const std::lock_guard lock(mutex_);
    return line_;
  }

 private:
  mutable std::mutex mutex_;
  std::string line_;
  std::atomic<bool> known_ = false;
};

/// Processes that have joined for one fit.
struct Group {
  std::shared_ptr<Communicator> ranks;
  std::shared_ptr<Loss> loss;
  std::int64_t on_this_host = 1;

  std::int64_t rank() const { return ranks->rank(); }
  std::int64_t size() const { return ranks->size(); }
};

/// Where processes find each other, for one fit after the other.
class Meeting {
 public:
  /// `rank` -1: all is taken from the variables of the environment.
  Meeting(std::int64_t rank, std::int64_t size, const std::string& address, double patience,
          std::map<std::string, std::string> variables);

  std::int64_t size() const { return options_.size; }
  /// Waits for the others. All of them join as often.
  Group join();

 private:
  GroupOptions options_;
  std::shared_ptr<void> store_;  // where this process keeps it
  std::int64_t joined_ = 0;
};

}  // namespace kindred::python
