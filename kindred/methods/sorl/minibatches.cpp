#include "kindred/methods/sorl/minibatches.h"

#include <algorithm>

#include "kindred/core/random.h"

namespace kindred::sorl {
namespace {

/// How many parts of at most `most` cover `n`; parts differ by one at most, since a small last one
/// would weigh as much as the others.
std::int64_t parts(std::int64_t n, std::int64_t most) {
  return most == 0 ? 1 : n / most + (n % most != 0);
}

}  // namespace

Minibatches::Minibatches(const Trajectories& data, const NetworkInputs& inputs,
                         const Options& options)
    : data_(data), inputs_(inputs), options_(options), draws_(data, options.buffer_steps) {
  if (!data.observations.is_interned() || !data.actions.is_discrete()) return;
  table_.resize(static_cast<std::size_t>(data.observations.distinct() * inputs.count()));
  inputs.apply(data.observations.table().span(), table_);
  row_of_.assign(static_cast<std::size_t>(data.observations.distinct()), -1);
}

std::int64_t Minibatches::count() const {
  return parts(data_.episodes(), options_.batch_trajectories);
}

void Minibatches::shuffle(std::int64_t round) {
  round_ = round;
  Random random(static_cast<std::uint64_t>(options_.seed), "order",
                static_cast<std::uint64_t>(round));
  draws_.shuffle(random, order_);
}

Minibatch Minibatches::make(std::int64_t index) {
  const auto begin = index * data_.episodes() / count();
  const auto end = (index + 1) * data_.episodes() / count();
  Minibatch batch{.trajectories = end - begin, .slices = {}};
  draws_.expect(std::span(order_).subspan(static_cast<std::size_t>(begin),
                                          static_cast<std::size_t>(end - begin)));
  std::vector<Step> steps;
  for (auto i = begin; i < end; ++i) {
    const auto episode = order_[static_cast<std::size_t>(i)];
    for (auto t = data_.offsets[episode]; t < data_.offsets[episode + 1]; ++t)
      steps.push_back({t, i - begin});
  }
  const auto n = static_cast<std::int64_t>(steps.size());
  const auto slices = parts(n, options_.batch_steps);
  if (slices > 1)
    Random(static_cast<std::uint64_t>(options_.seed), "steps",
           static_cast<std::uint64_t>(round_ << 32 | index))
        .shuffle(std::span(steps));
  for (std::int64_t s = 0; s < slices; ++s)
    batch.slices.push_back(slice(
        std::span(steps).subspan(static_cast<std::size_t>(s * n / slices),
                                 static_cast<std::size_t>((s + 1) * n / slices - s * n / slices))));
  return batch;
}

Slice Minibatches::slice(std::span<const Step> steps) {
  Slice slice;
  for (const auto& step : steps) slice.owners.push_back(step.owner);
  if (table_.empty())
    fill_rows(steps, slice);
  else
    fill_distinct_rows(steps, slice);
  if (!data_.actions.is_discrete())
    for (const auto& step : steps) {
      const auto* action = data_.actions.floats().data() + step.at * data_.actions.dim();
      slice.actions.insert(slice.actions.end(), action, action + data_.actions.dim());
    }
  return slice;
}

void Minibatches::fill_rows(std::span<const Step> steps, Slice& slice) {
  std::vector<std::int64_t> at;
  for (const auto& step : steps) at.push_back(step.at);
  slice.inputs.resize(at.size() * inputs_.columns.size());
  inputs_.gather(data_.observations, at, slice.inputs);
  if (!data_.actions.is_discrete()) return;
  for (std::size_t i = 0; i < at.size(); ++i)
    slice.codes.push_back(static_cast<std::int64_t>(i) * data_.actions.count() +
                          data_.actions.ints()[at[i]]);
}

void Minibatches::fill_distinct_rows(std::span<const Step> steps, Slice& slice) {
  std::int64_t rows = 0;
  for (const auto& step : steps) {
    const auto observation = data_.observations.index()[step.at];
    auto& row = row_of_[static_cast<std::size_t>(observation)];
    if (row < 0) {
      row = rows++;
      const auto* from = table_.data() + observation * inputs_.count();
      slice.inputs.insert(slice.inputs.end(), from, from + inputs_.count());
    }
    slice.codes.push_back(row * data_.actions.count() + data_.actions.ints()[step.at]);
  }
  for (const auto& step : steps)
    row_of_[static_cast<std::size_t>(data_.observations.index()[step.at])] = -1;
}

}  // namespace kindred::sorl
