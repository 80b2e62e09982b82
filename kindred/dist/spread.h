// Pieces of work that need nothing of each other, spread over the processes of a run. Which process
// does a piece changes nothing about its result, so that all of them end with the same bits, and
// with those that one process alone would have.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kindred/dist/packing.h"

namespace kindred {

struct SpreadWork {
  std::int64_t pieces = 0;
  std::function<void(std::int64_t piece)> work = {};
  /// What the others need to know of a piece that was done here, and how they take it over.
  std::function<void(std::int64_t piece, Packer& to)> pack;
  std::function<void(std::int64_t piece, Unpacker& from)> unpack;
  /// Called now and then on the calling thread; may be empty.
  std::function<void()> meanwhile = {};
  /// Whether a rank does its pieces one after the other, since each uses all threads itself.
  bool in_turn = false;
  /// Instead of `work`: does all pieces of this rank, `meanwhile` included.
  std::function<void(std::span<const std::int64_t> pieces)> work_on_all = {};
};

/// Collective. Every piece is done by one rank, on any of its threads.
void spread(const Workers& workers, Communicator& ranks, const SpreadWork& work);
inline void spread(const RunContext& run, const SpreadWork& work) {
  spread(run, ranks_of(run), work);
}

/// The same where each piece makes one of the results, for which there are functions pack and
/// unpack.
template <class T>
void spread(const RunContext& run, std::vector<T>& results,
            const std::function<void(std::int64_t piece)>& work,
            const std::function<void()>& meanwhile = {}) {
  const auto at = [&](std::int64_t piece) -> T& {
    return results[static_cast<std::size_t>(piece)];
  };
  spread(run, {.pieces = std::ssize(results),
               .work = work,
               .pack = [&](std::int64_t piece, Packer& to) { pack(at(piece), to); },
               .unpack = [&](std::int64_t piece, Unpacker& from) { unpack(at(piece), from); },
               .meanwhile = meanwhile});
}

}  // namespace kindred
