#include "kindred/methods/sorl/minibatches.h"

#include "kindred/core/random.h"

namespace kindred::sorl {
namespace {

/// How many parts of at most `most` cover `n`; parts differ by one at most, since a small last one
/// would weigh as much as the others.
std::int64_t parts(std::int64_t n, std::int64_t most) {
  return most == 0 ? 1 : n / most + (n % most != 0);
}

}  // namespace

Minibatches::Minibatches(const Trajectories& data, const Options& options)
    : data_(data), options_(options), draws_(data, options.buffer_steps) {}

std::int64_t Minibatches::count() const {
  return parts(data_.episodes(), options_.batch_trajectories);
}

void Minibatches::shuffle(std::int64_t round) {
  round_ = round;
  Random random(static_cast<std::uint64_t>(options_.seed), "order",
                static_cast<std::uint64_t>(round));
  draws_.shuffle(random, order_);
}

Minibatch Minibatches::make(std::int64_t index) const {
  const auto begin = index * data_.episodes() / count();
  const auto end = (index + 1) * data_.episodes() / count();
  draws_.expect(std::span(order_).subspan(static_cast<std::size_t>(begin),
                                          static_cast<std::size_t>(end - begin)));
  struct Step {
    std::int64_t at, owner;
  };
  std::vector<Step> steps;
  for (auto i = begin; i < end; ++i) {
    const auto episode = order_[static_cast<std::size_t>(i)];
    for (auto t = data_.offsets[episode]; t < data_.offsets[episode + 1]; ++t)
      steps.push_back({t, i - begin});
  }
  const auto n = std::ssize(steps);
  const auto slices = parts(n, options_.batch_steps);
  if (slices > 1)
    Random(static_cast<std::uint64_t>(options_.seed), "steps",
           static_cast<std::uint64_t>(round_ << 32 | index))
        .shuffle(std::span(steps));
  Minibatch batch;
  batch.trajectories = end - begin;
  for (const auto& [at, owner] : steps) {
    batch.steps.push_back(at);
    batch.owners.push_back(owner);
  }
  for (std::int64_t s = 1; s <= slices; ++s)
    batch.ends.push_back(static_cast<std::size_t>(s * n / slices));
  return batch;
}

}  // namespace kindred::sorl
