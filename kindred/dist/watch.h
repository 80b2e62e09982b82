// Notices when a process of a run is gone, by what all of them write on one board: the first rank
// looks after the others, and they look after the first. A process that was killed, stopped or cut
// off falls silent; one that fails says so.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kindred {

/// Keys and values that all processes see. A call may take for ever where the keeper is gone, or
/// throw.
class Board {
 public:
  virtual ~Board() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Nothing where nobody has set it.
  virtual std::optional<std::string> get(const std::string& key) = 0;
  /// Sets the key unless somebody has; returns what it is then.
  virtual std::string set_once(const std::string& key, const std::string& value) = 0;
};

struct WatchOptions {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::string host;    ///< Of this process.
  std::string keeper;  ///< Who keeps the board, in words, where it is not the first rank.
  std::chrono::milliseconds patience{20000};
  std::chrono::milliseconds beat{500};
  std::function<void(const std::string& line)> on_loss;
};

class Watch {
 public:
  /// Begins at once.
  Watch(std::unique_ptr<Board> board, const WatchOptions& options);
  /// Ends without waiting for a board that does not answer.
  ~Watch();

  /// Why the run cannot go on, as far as anybody knows by `until`.
  std::optional<std::string> verdict(std::chrono::steady_clock::time_point until) const;
  /// Tells the others that this process cannot go on.
  void fail(const std::string& why);
  /// Nobody is missed from now on. Returns when the others know, so that the keeper may go.
  void leave();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with threads that may outlive this
};

}  // namespace kindred
