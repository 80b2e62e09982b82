#include "kindred/methods/pg_kmeans/batch_sampler.h"

#include <algorithm>

namespace kindred::pg_kmeans {

BatchSampler::BatchSampler(const Trajectories& data, const Options& options, std::int64_t slot,
                           std::span<const std::int32_t> labels, std::int64_t round)
    : data_(data),
      options_(options),
      random_(static_cast<std::uint64_t>(options.seed), "batch",
              static_cast<std::uint64_t>(round << 32 | slot)) {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    if (labels[static_cast<std::size_t>(i)] != slot % options.k) continue;
    episodes_.push_back(i);
    ends_.push_back(total += data.length(i));
  }
}

std::span<const std::int64_t> BatchSampler::next() {
  steps_.clear();
  for (std::int64_t i = 0; i < options_.batch_trajectories; ++i) {
    const auto episode = episodes_[random_.below(episodes_.size())];
    for (auto t = data_.offsets[episode]; t < data_.offsets[episode + 1]; ++t) steps_.push_back(t);
  }
  if (options_.batch_trajectories > 0) return steps_;

  for (std::int64_t i = 0; i < options_.batch_steps; ++i) {
    const auto at =
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(ends_.back())));
    const auto e = static_cast<std::size_t>(std::ranges::upper_bound(ends_, at) - ends_.begin());
    steps_.push_back(data_.offsets[episodes_[e] + 1] - (ends_[e] - at));
  }
  return steps_;
}

}  // namespace kindred::pg_kmeans
