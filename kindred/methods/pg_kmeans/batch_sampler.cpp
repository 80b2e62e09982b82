#include "kindred/methods/pg_kmeans/batch_sampler.h"

namespace kindred::pg_kmeans {
namespace {

std::vector<Stretch> members_of(const Trajectories& data, std::span<const std::int32_t> labels,
                                std::int64_t cluster) {
  std::vector<Stretch> members;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    if (labels[static_cast<std::size_t>(i)] == cluster) members.push_back({i, 0, data.length(i)});
  return members;
}

}  // namespace

// Policies of a round fill their buffers in one order, and so read the same blocks.
BatchSampler::BatchSampler(const Trajectories& data, const Options& options, std::int64_t slot,
                           std::span<const std::int32_t> labels, std::int64_t round)
    : data_(data),
      options_(options),
      random_(static_cast<std::uint64_t>(options.seed), "batch",
              static_cast<std::uint64_t>(round << 32 | slot)),
      buffer_(data, members_of(data, labels, slot % options.k), options.buffer_steps, options.k,
              Random(static_cast<std::uint64_t>(options.seed), "buffer",
                     static_cast<std::uint64_t>(round))) {}

std::span<const std::int64_t> BatchSampler::next() {
  filled_ = buffer_.refill();
  steps_.clear();
  for (std::int64_t i = 0; i < options_.batch_trajectories; ++i) {
    const auto episode = buffer_.held()[random_.below(buffer_.held().size())].episode;
    for (auto t = data_.offsets[episode]; t < data_.offsets[episode + 1]; ++t) steps_.push_back(t);
  }
  if (options_.batch_trajectories == 0)
    for (std::int64_t i = 0; i < options_.batch_steps; ++i) steps_.push_back(buffer_.draw(random_));
  buffer_.drawn(std::ssize(steps_));
  return steps_;
}

void BatchSampler::tell(Plateau& plateau) const {
  if (buffer_.holds_all()) return;
  const auto minibatches = options_.batch_trajectories > 0
                               ? std::ssize(buffer_.held()) / options_.batch_trajectories
                               : buffer_.held_steps() / options_.batch_steps;
  if (minibatches < 2 * options_.plateau_steps)
    plateau.wait_for_pass(buffer_.passes());
  else if (filled_)
    plateau.begin_anew();
}

}  // namespace kindred::pg_kmeans
