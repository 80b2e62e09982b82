// The processes of one run ("ranks"): how many they are, which of them this one is, and the few
// things they do together. A run of one process goes through the same calls, which then do nothing.
//
// Sums of floating-point numbers depend on their order. Whoever needs the same bits whatever the
// number of ranks gathers parts that do not depend on it, and adds them up in one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/progress.h"

namespace kindred {

/// Another process of the run died, stopped or failed. The message names it and its host.
class PeerLost : public Error {
 public:
  using Error::Error;
};

/// Every rank calls the same functions in the same order, from one thread at a time. They throw
/// PeerLost.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual std::int64_t rank() const = 0;
  virtual std::int64_t size() const = 0;
  /// What `root` has, to everybody.
  virtual void broadcast(std::span<std::byte> bytes, std::int64_t root) = 0;
  /// The sums over all ranks, to everybody. Whole numbers wrap around.
  virtual void all_reduce(std::span<std::int64_t> numbers) = 0;
  virtual void all_reduce(std::span<double> numbers) = 0;
  /// What every rank has, in the order of ranks, to everybody.
  virtual std::vector<std::vector<std::byte>> gather(std::span<const std::byte> own) = 0;

  /// So many bytes of memory that all ranks see (dist/common_memory.h); null where there is none:
  /// they are on several machines, or one alone.
  virtual std::shared_ptr<std::byte> common_memory(std::size_t bytes) = 0;
  /// Whether there was some whenever it was asked for.
  virtual bool shares_memory() const = 0;

  /// Tells the others that this rank cannot go on, and why. Not collective.
  virtual void fail(const std::string& why) = 0;
  /// Waits until all have come so far; nobody is missed from then on.
  virtual void leave() = 0;
  /// That this rank has sent or received.
  virtual std::int64_t bytes() const = 0;

  bool is_first() const { return rank() == 0; }
};

/// The one process that most runs are.
std::shared_ptr<Communicator> one_process();

/// Those of a run; one process where it names none.
Communicator& ranks_of(const RunContext& run);

/// Returns when all have come so far. Collective.
void meet(Communicator& ranks);

/// [begin, end)
struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
};

/// The share of a rank in `count` things in a row, as equal as can be.
Share share_of(std::int64_t count, std::int64_t rank, std::int64_t ranks);

/// Where rank r has filled [shares[r].begin, shares[r].end) of the rows of `all`, everybody gets
/// all rows.
template <class T>
void exchange(Communicator& ranks, std::span<const Share> shares, std::int64_t row,
              std::span<T> all) {
  for (std::int64_t r = 0; r < ranks.size(); ++r) {
    const auto& share = shares[static_cast<std::size_t>(r)];
    if (share.size() > 0)
      ranks.broadcast(
          std::as_writable_bytes(all.subspan(static_cast<std::size_t>(share.begin * row),
                                             static_cast<std::size_t>(share.size() * row))),
          r);
  }
}

}  // namespace kindred
