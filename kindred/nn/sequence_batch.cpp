#include "kindred/nn/sequence_batch.h"

namespace kindred {

void pack(std::vector<std::int64_t> lengths, SequenceBatch& batch) {
  batch.lengths = std::move(lengths);
  batch.time_offsets.assign(1, 0);
  auto active = batch.sequences();
  for (std::int64_t t = 0; t < batch.longest(); ++t) {
    while (batch.lengths[static_cast<std::size_t>(active - 1)] <= t) --active;
    batch.time_offsets.push_back(batch.time_offsets.back() + active);
  }
}

}  // namespace kindred
