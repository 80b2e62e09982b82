#include "kindred/dist/spread.h"

#include <algorithm>
#include <numeric>

namespace kindred {

std::vector<std::int64_t> owners(const SpreadWork& work, std::int64_t ranks) {
  std::vector<std::int64_t> owner(static_cast<std::size_t>(work.pieces));
  for (std::int64_t piece = 0; piece < work.pieces; ++piece)
    owner[static_cast<std::size_t>(piece)] = piece % ranks;
  if (work.weights.empty()) return owner;
  std::vector<std::size_t> order(owner.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](auto i) { return work.weights[i]; });
  std::vector<double> load(static_cast<std::size_t>(ranks), 0.0);
  for (const auto piece : order) {
    const auto least = std::ranges::min_element(load);
    *least += work.weights[piece];
    owner[piece] = least - load.begin();
  }
  return owner;
}

void spread(const Workers& workers, Communicator& ranks, const SpreadWork& work) {
  const auto owner = owners(work, ranks.size());
  const auto of_rank = [&](std::int64_t rank) {
    std::vector<std::int64_t> pieces;
    for (std::int64_t piece = 0; piece < work.pieces; ++piece)
      if (owner[static_cast<std::size_t>(piece)] == rank) pieces.push_back(piece);
    return pieces;
  };
  const auto own = of_rank(ranks.rank());
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    for (auto n = begin; n < end; ++n) work.work(own[static_cast<std::size_t>(n)]);
  };
  if (work.in_turn)
    some(0, std::ssize(own));
  else
    workers.chunks(std::ssize(own), 1, some, work.meanwhile);
  if (ranks.size() == 1) return;
  Packer done;
  for (const auto piece : own) work.pack(piece, done);
  const auto of_ranks = ranks.gather(done.bytes());
  for (std::int64_t r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    Unpacker from(of_ranks[static_cast<std::size_t>(r)]);
    for (const auto piece : of_rank(r)) work.unpack(piece, from);
  }
}

}  // namespace kindred
