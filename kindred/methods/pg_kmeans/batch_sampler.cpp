#include "kindred/methods/pg_kmeans/batch_sampler.h"

#include <algorithm>

namespace kindred::pg_kmeans {

BatchSampler::BatchSampler(const Trajectories& data, const Options& options,
                           std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
                           std::int64_t round)
    : data_(data), options_(options) {
  for (const auto slot : slots) {
    Member member{Random(static_cast<std::uint64_t>(options.seed), "batch",
                         static_cast<std::uint64_t>(round << 32 | slot)),
                  {}, {}};
    const auto label = labels(slot / options.k);
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < data.episodes(); ++i) {
      if (label[static_cast<std::size_t>(i)] != slot % options.k) continue;
      member.episodes.push_back(i);
      member.ends.push_back(total += data.length(i));
    }
    members_.push_back(std::move(member));
  }
}

const Batch& BatchSampler::next() {
  if (options_.batch_trajectories > 0) draw_trajectories();
  else draw_steps();
  return batch_;
}

void BatchSampler::draw_steps() {
  batch_.width = options_.batch_steps;
  batch_.steps.clear();
  for (auto& member : members_)
    for (std::int64_t i = 0; i < batch_.width; ++i) {
      const auto at = static_cast<std::int64_t>(
          member.random.below(static_cast<std::uint64_t>(member.ends.back())));
      const auto e = std::ranges::upper_bound(member.ends, at) - member.ends.begin();
      const auto episode = member.episodes[static_cast<std::size_t>(e)];
      batch_.steps.push_back(data_.offsets[episode + 1] - (member.ends[static_cast<std::size_t>(e)] - at));
    }
}

void BatchSampler::draw_trajectories() {
  std::vector<std::vector<std::int64_t>> drawn;
  batch_.width = 0;
  for (auto& member : members_) {
    auto& episodes = drawn.emplace_back();
    std::int64_t width = 0;
    for (std::int64_t i = 0; i < options_.batch_trajectories; ++i) {
      episodes.push_back(member.episodes[member.random.below(member.episodes.size())]);
      width += data_.length(episodes.back());
    }
    batch_.width = std::max(batch_.width, width);
  }
  // Policies draw different numbers of steps: rows are padded with steps of weight zero.
  batch_.steps.assign(members_.size() * static_cast<std::size_t>(batch_.width), 0);
  batch_.weights.assign(batch_.steps.size(), 0.0F);
  for (std::size_t m = 0; m < drawn.size(); ++m) {
    const auto row = m * static_cast<std::size_t>(batch_.width);
    std::size_t used = 0;
    for (const auto episode : drawn[m])
      for (auto t = data_.offsets[episode]; t < data_.offsets[episode + 1]; ++t)
        batch_.steps[row + used++] = t;
    std::fill_n(batch_.weights.begin() + static_cast<std::ptrdiff_t>(row), used,
                1.0F / static_cast<float>(used));
  }
}

}  // namespace kindred::pg_kmeans
