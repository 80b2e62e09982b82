#include "kindred/core/turns.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <thread>

#include "kindred/core/stopwatch.h"

namespace kindred {
namespace {

/// Long against what it takes to fetch a piece's numbers into another core's cache.
constexpr double kSecondsOfATurn = 0.003;

struct Piece {
  std::int64_t number;
  PieceStep step = {};
  std::int64_t steps = 0;
  bool is_taken = true;
};

class PiecesUnderWay {
 public:
  PiecesUnderWay(std::int64_t pieces, std::int64_t most) : pieces_(pieces), most_(most) {}

  /// None when threads work on all that are not done, each on its own: no more are needed.
  Piece* take() {
    const std::lock_guard lock(mutex_);
    if (failed_) return nullptr;
    if (begun_ < pieces_ && std::ssize(under_way_) < most_)
      return &under_way_.emplace_back(Piece{.number = begun_++});
    Piece* least = nullptr;
    for (auto& piece : under_way_)
      if (!piece.is_taken && (!least || piece.steps < least->steps)) least = &piece;
    if (least) least->is_taken = true;
    return least;
  }

  void put_back(Piece& piece) {
    const std::lock_guard lock(mutex_);
    piece.is_taken = false;
  }

  void done(const Piece& piece) {
    std::list<Piece> freed;  // after the lock
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(under_way_, &piece, [](const Piece& one) { return &one; });
    freed.splice(freed.end(), under_way_, at);
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
  }

 private:
  const std::int64_t pieces_, most_;
  std::mutex mutex_;
  std::list<Piece> under_way_;
  std::int64_t begun_ = 0;
  bool failed_ = false;
};

/// True when the piece is done.
bool take_turn(Piece& piece, std::int64_t seat, const Workers& workers) {
  const Stopwatch turn;
  do {
    workers.throw_if_stopped();
    if (piece.step(seat)) return true;
    ++piece.steps;
  } while (turn.seconds() < kSecondsOfATurn);
  return false;
}

/// So that the last to be under way together are as many as those before.
std::int64_t even_share(std::int64_t count, std::int64_t most) {
  const auto shares = (count + most - 1) / most;
  return (count + shares - 1) / shares;
}

}  // namespace

void take_turns(const Workers& workers, const PiecesInTurns& work) {
  if (work.pieces <= 0) return;
  const auto threads = std::min<std::int64_t>(workers.pool->threads(), work.pieces);
  const auto most = std::clamp(work.most_under_way, threads, work.pieces);
  PiecesUnderWay under_way(work.pieces, std::max(threads, even_share(work.pieces, most)));
  const auto caller = std::this_thread::get_id();
  const auto sit = [&](std::int64_t seat, std::int64_t) {
    try {
      while (auto* const piece = under_way.take()) {
        if (!piece->step) piece->step = work.begin(piece->number);
        if (take_turn(*piece, seat, workers))
          under_way.done(*piece);
        else
          under_way.put_back(*piece);
        if (work.meanwhile && std::this_thread::get_id() == caller) work.meanwhile();
      }
    } catch (...) {
      under_way.fail();
      throw;
    }
  };
  workers.chunks(threads, 1, sit, work.meanwhile);
}

}  // namespace kindred
