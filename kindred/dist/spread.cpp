#include "kindred/dist/spread.h"

#include <vector>

namespace kindred {

void spread(const Workers& workers, Communicator& ranks, const SpreadWork& work) {
  const auto own = [&](std::int64_t n) { return ranks.rank() + n * ranks.size(); };
  const auto count = (work.pieces - ranks.rank() + ranks.size() - 1) / ranks.size();
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    for (auto n = begin; n < end; ++n) work.work(own(n));
  };
  if (work.work_on_all) {
    std::vector<std::int64_t> pieces;
    for (std::int64_t n = 0; n < count; ++n) pieces.push_back(own(n));
    work.work_on_all(pieces);
  } else if (work.in_turn)
    some(0, count);
  else
    workers.chunks(count, 1, some, work.meanwhile);
  if (ranks.size() == 1) return;
  Packer done;
  for (std::int64_t n = 0; n < count; ++n) work.pack(own(n), done);
  const auto of_ranks = ranks.gather(done.bytes());
  for (std::int64_t r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    Unpacker from(of_ranks[static_cast<std::size_t>(r)]);
    for (auto piece = r; piece < work.pieces; piece += ranks.size()) work.unpack(piece, from);
  }
}

}  // namespace kindred
