// Long pieces of work that threads advance in short turns, so that none is without work before the
// last few milliseconds, however long pieces are and whatever delays a thread.
#pragma once

#include <cstdint>
#include <functional>

#include "kindred/core/workers.h"

namespace kindred {

/// Takes a piece one step further, true when that was the last. `seat` is the number of the thread,
/// below that of the pool: at most one thread sits on it at a time, so buffers can be kept by it.
using PieceStep = std::function<bool(std::int64_t seat)>;

struct PiecesInTurns {
  std::int64_t pieces = 0;
  /// Begins a piece. What it holds is freed once it is done.
  std::function<PieceStep(std::int64_t piece)> begin;
  /// As many pieces are under way at most, or as there are threads where these are more.
  std::int64_t most_under_way = 0;
  /// Called by the thread that asked for the work, after each of its turns and while it waits for
  /// others.
  std::function<void()> meanwhile = {};
};

/// The next turn is of the piece that is the fewest steps on its way. Threads change the order of
/// steps of different pieces, never that of one piece's. Rethrows the first exception of a step;
/// pieces are then left as they are.
void take_turns(const Workers& workers, const PiecesInTurns& work);

}  // namespace kindred
