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

/// Where processes find each other, for one fit after the other.
class Meeting {
 public:
  /// `rank` -1: all is taken from the variables of the environment.
  Meeting(std::int64_t rank, std::int64_t size, const std::string& address, double patience,
          std::map<std::string, std::string> variables);

  std::int64_t rank() const { return options_.rank; }
  std::int64_t size() const { return options_.size; }

  /// How to join for one fit, and what has to be there until it is over.
  struct Invitation {
    GroupOptions options;
    std::shared_ptr<void> store;
  };
  /// For the next fit; all processes ask as often.
  Invitation next();

 private:
  GroupOptions options_;
  std::shared_ptr<void> store_;  // where this process keeps it
  std::int64_t fits_ = 0;
};

/// How many threads this process has where those on one host share its cores. Collective.
int threads_of(Communicator& ranks);

}  // namespace kindred::python
