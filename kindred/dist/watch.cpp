#include "kindred/dist/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace kindred {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kLookAgain = std::chrono::milliseconds(100);
constexpr int kTimeToRead = 3;                      // beats
constexpr auto kGoodbye = std::chrono::seconds(5);  // that the keeper waits for the others

std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000.0);
}

}  // namespace

struct Watch::State {
  explicit State(const WatchOptions& asked) : options(asked) {
    const auto others = options.rank == 0 ? options.size : std::int64_t{1};
    for (std::int64_t r = 0; r < others; ++r)
      if (r != options.rank)
        watched.push_back({.rank = r, .host = {}, .beat = {}, .changed = Clock::now()});
  }

  struct Watched {
    std::int64_t rank = 0;
    std::string host;  // empty: it has not come yet
    std::string beat;
    Clock::time_point changed;
    bool left = false;
  };

  std::string key(const char* what, std::int64_t rank) const {
    return fmt::format("{}/{}", what, rank);
  }

  /// One exchange with the board, which may take for ever.
  void talk(Board& board, std::int64_t beat) {
    board.set(key("beat", options.rank), std::to_string(beat));
    std::vector<Watched> seen;
    std::string why;
    bool goes = false;
    {
      const std::lock_guard lock(mutex);
      seen = watched;
      why = own_failure;
      goes = leaving;
    }
    if (!why.empty()) board.set_once("verdict", why);
    if (goes) board.set(key("left", options.rank), "1");
    for (auto& one : seen) {
      if (one.host.empty()) one.host = board.get(key("host", one.rank)).value_or("");
      const auto beat_now = board.get(key("beat", one.rank)).value_or("");
      if (beat_now != one.beat) one.changed = Clock::now();
      one.beat = beat_now;
      one.left = one.left || (goes && board.get(key("left", one.rank)).has_value());
    }
    const auto verdict = board.get("verdict");
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const auto forgiven = std::max(seen[i].changed, watched[i].changed);
      watched[i] = seen[i];
      watched[i].changed = forgiven;
    }
    answered = Clock::now();
    if (verdict && known.empty()) known = *verdict;
    told_failure = told_failure || !why.empty();
    told_leaving = told_leaving || goes;
    news.notify_all();
  }

  void talk_on(Board& board) {
    try {
      board.set(key("host", options.rank), options.host);
      for (std::int64_t beat = 1; !over; ++beat) {
        talk(board, beat);
        std::unique_lock lock(mutex);
        news.wait_for(lock, options.beat, [&] { return over.load() || hurry; });
        hurry = false;
      }
    } catch (const std::exception&) {
      const std::lock_guard lock(mutex);
      board_is_gone = true;  // the judge finds out what that means
      news.notify_all();
    }
  }

  std::string name_of(const Watched& one) const {
    return one.host.empty() ? fmt::format("rank {}", one.rank)
                            : fmt::format("rank {} on {}", one.rank, one.host);
  }

  /// What is wrong, by what the board said last; nothing where all is well. The mutex is held.
  std::string judge() const {
    if (!known.empty()) return known;
    const auto now = Clock::now();
    const bool silent = now - answered > options.patience;
    if (silent || (board_is_gone && now - answered > 2 * options.beat)) {
      const auto keeper = !options.keeper.empty() ? options.keeper
                          : watched.empty()       ? std::string("the store")
                                                  : name_of(watched.front());
      return silent ? fmt::format("{} has not answered for {}", keeper, seconds(options.patience))
                    : fmt::format("{} is gone", keeper);
    }
    for (const auto& one : watched)
      if (now - one.changed > options.patience)
        return one.host.empty() ? fmt::format("rank {} has not come within {}", one.rank,
                                              seconds(options.patience))
                                : fmt::format("{} has not answered for {}", name_of(one),
                                              seconds(options.patience));
    return {};
  }

  void judge_on() {
    auto before = Clock::now();
    while (!over) {
      std::string line;
      {
        std::unique_lock lock(mutex);
        news.wait_for(lock, kLookAgain);
        const auto now = Clock::now();
        if (now - before > options.patience / 2) {  // it was this process that slept
          answered = now;
          for (auto& one : watched) one.changed = now;
        }
        before = now;
        if (leaving || over) continue;
        line = judge();
        if (line.empty()) continue;
        known = line;
        if (own_failure.empty()) own_failure = line;  // for the others
        hurry = true;
        news.notify_all();
        // They should know before this process ends, and perhaps the board with it.
        news.wait_for(lock, 2 * options.beat, [&] { return told_failure || board_is_gone; });
      }
      if (options.rank == 0) std::this_thread::sleep_for(kTimeToRead * options.beat);
      if (options.on_loss && !failed_itself) options.on_loss(line);
      const std::lock_guard lock(mutex);
      lost = true;
      news.notify_all();
      return;
    }
  }

  WatchOptions options;
  std::mutex mutex;
  std::condition_variable news;
  std::vector<Watched> watched;
  Clock::time_point answered = Clock::now();
  std::string own_failure, known;
  bool board_is_gone = false, leaving = false, lost = false, hurry = false;
  bool told_failure = false, told_leaving = false;
  std::atomic<bool> over = false, failed_itself = false;
};

Watch::Watch(std::unique_ptr<Board> board, const WatchOptions& options)
    : state_(std::make_shared<State>(options)) {
  std::thread([state = state_, shared = std::shared_ptr<Board>(std::move(board))] {
    state->talk_on(*shared);
  }).detach();
  std::thread([state = state_] { state->judge_on(); }).detach();
}

Watch::~Watch() {
  state_->over = true;
  state_->news.notify_all();
}

std::optional<std::string> Watch::verdict(Clock::time_point until) const {
  std::unique_lock lock(state_->mutex);
  state_->news.wait_until(lock, until, [&] { return state_->lost; });
  return state_->lost ? std::optional(state_->known) : std::nullopt;
}

void Watch::fail(const std::string& why) {
  state_->failed_itself = true;
  std::unique_lock lock(state_->mutex);
  if (!state_->known.empty()) return;
  state_->own_failure =
      fmt::format("rank {} on {}: {}", state_->options.rank, state_->options.host, why);
  state_->hurry = true;
  state_->news.notify_all();
  state_->news.wait_for(lock, std::chrono::seconds(2), [&] { return state_->told_failure; });
  // The others read it before the board goes with its keeper.
  lock.unlock();
  if (state_->options.rank == 0) std::this_thread::sleep_for(kTimeToRead * state_->options.beat);
}

void Watch::leave() {
  std::unique_lock lock(state_->mutex);
  state_->leaving = true;
  const auto until = Clock::now() + kGoodbye;
  const auto gone = [&] {
    state_->hurry = true;
    state_->news.notify_all();
    return state_->board_is_gone ||
           (state_->told_leaving &&
            (state_->options.rank != 0 ||
             std::ranges::all_of(state_->watched, [](const auto& one) { return one.left; })));
  };
  while (!gone() && Clock::now() < until) state_->news.wait_for(lock, kLookAgain);
  state_->over = true;
  state_->news.notify_all();
}

}  // namespace kindred
