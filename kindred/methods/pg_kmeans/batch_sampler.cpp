#include "kindred/methods/pg_kmeans/batch_sampler.h"

#include <algorithm>
#include <numeric>

namespace kindred::pg_kmeans {

BatchSampler::BatchSampler(const Trajectories& data, const Options& options, std::int64_t slot,
                           std::span<const std::int32_t> labels, std::int64_t round)
    : data_(data),
      options_(options),
      random_(static_cast<std::uint64_t>(options.seed), "batch",
              static_cast<std::uint64_t>(round << 32 | slot)),
      draws_(data, options.buffer_steps) {
  own_.resize(static_cast<std::size_t>(data.episodes()));
  std::iota(own_.begin(), own_.end(), 0);
  if (draws_.is_buffered()) {  // in one order for all policies, which so read the same blocks
    Random random(static_cast<std::uint64_t>(options.seed), "buffer",
                  static_cast<std::uint64_t>(round));
    draws_.shuffle(random, own_);
  }
  std::erase_if(own_, [&](std::int64_t i) {
    return labels[static_cast<std::size_t>(i)] != slot % options.k;
  });
}

void BatchSampler::fill_buffer() {
  // All policies of a restart have the buffer together.
  const auto room = draws_.is_buffered() ? options_.buffer_steps / options_.k + 1 : data_.steps();
  left_ = 0;
  episodes_.clear();
  ends_.clear();
  for (std::size_t taken = 0; taken < own_.size() && left_ < room; ++taken) {
    const auto episode = own_[next_++ % own_.size()];
    episodes_.push_back(episode);
    ends_.push_back(left_ += data_.length(episode));
  }
  draws_.expect(episodes_);
}

std::span<const std::int64_t> BatchSampler::next() {
  filled_ = left_ <= 0;
  if (filled_) fill_buffer();
  steps_.clear();
  for (std::int64_t i = 0; i < options_.batch_trajectories; ++i) {
    const auto episode = episodes_[random_.below(episodes_.size())];
    for (auto t = data_.offsets[episode]; t < data_.offsets[episode + 1]; ++t) steps_.push_back(t);
  }
  if (options_.batch_trajectories > 0) {
    left_ -= std::ssize(steps_);
    return steps_;
  }
  left_ -= options_.batch_steps;
  for (std::int64_t i = 0; i < options_.batch_steps; ++i) {
    const auto at =
        static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(ends_.back())));
    const auto e = static_cast<std::size_t>(std::ranges::upper_bound(ends_, at) - ends_.begin());
    steps_.push_back(data_.offsets[episodes_[e] + 1] - (ends_[e] - at));
  }
  return steps_;
}

void BatchSampler::tell(Plateau& plateau) const {
  if (episodes_.size() == own_.size()) return;
  const auto minibatches = options_.batch_trajectories > 0
                               ? std::ssize(episodes_) / options_.batch_trajectories
                               : ends_.back() / options_.batch_steps;
  if (minibatches < 2 * options_.plateau_steps)
    plateau.wait_for_pass(static_cast<std::int64_t>((next_ - episodes_.size()) / own_.size()));
  else if (filled_)
    plateau.begin_anew();
}

}  // namespace kindred::pg_kmeans
