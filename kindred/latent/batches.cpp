#include "kindred/latent/batches.h"

#include <algorithm>
#include <numeric>

#include "kindred/core/random.h"

namespace kindred::latent {

std::int64_t MiniBatch::steps() const {
  std::int64_t sum = 0;
  for (const auto& part : parts) sum += part.steps();
  return sum;
}

std::int64_t MiniBatch::padding() const {
  std::int64_t sum = 0;
  for (const auto& part : parts) sum += part.longest() * part.sequences() - part.steps();
  return sum;
}

StepSource::StepSource(const Trajectories& data, const NetworkInputs& inputs, std::int64_t actions)
    : data_(data), inputs_(inputs), actions_(actions) {
  if (!data.observations.is_interned()) return;
  table_.resize(static_cast<std::size_t>(data.observations.distinct() * inputs.count()));
  inputs.apply(data.observations.table().span(), table_);
}

void StepSource::fill(std::span<const std::int64_t> episodes, std::int64_t part_size,
                      const Workers& workers, MiniBatch& batch, const PartSharing* sharing) const {
  std::vector<std::int64_t> sorted(episodes.begin(), episodes.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{},
                           [&](std::int64_t i) { return data_.length(i); });
  const auto n = static_cast<std::int64_t>(sorted.size());
  const auto parts = (n + part_size - 1) / part_size;
  batch.parts.resize(static_cast<std::size_t>(parts));
  batch.episodes.clear();
  std::vector<std::size_t> begins = {0};
  for (std::int64_t p = 0; p < parts; ++p) {
    for (auto i = p; i < n; i += parts)
      batch.episodes.push_back(sorted[static_cast<std::size_t>(i)]);
    begins.push_back(batch.episodes.size());
  }
  workers.chunks(parts, 1, [&](std::int64_t begin, std::int64_t) {
    const auto p = static_cast<std::size_t>(begin);
    const auto own = std::span(batch.episodes).subspan(begins[p], begins[p + 1] - begins[p]);
    pack_part(own, batch.parts[p]);
    if (!sharing || sharing->is_own(begin, parts)) fill_part(own, batch.parts[p]);
  });
}

void StepSource::pack_part(std::span<const std::int64_t> episodes, SequenceBatch& part) const {
  std::vector<std::int64_t> lengths;
  for (const auto episode : episodes) lengths.push_back(data_.length(episode));
  pack(std::move(lengths), part);
}

void StepSource::fill_part(std::span<const std::int64_t> episodes, SequenceBatch& part) const {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(part.steps()));
  std::size_t next = 0;
  for (std::int64_t t = 0; t < part.longest(); ++t)
    for (std::int64_t b = 0; b < part.active(t); ++b)
      steps[next++] = data_.offsets[episodes[static_cast<std::size_t>(b)]] + t;

  part.discrete_actions.clear();
  part.continuous_actions.clear();
  if (data_.actions.is_discrete())
    for (const auto step : steps) part.discrete_actions.push_back(data_.actions.ints()[step]);
  else
    for (const auto step : steps)
      part.continuous_actions.insert(part.continuous_actions.end(),
                                     data_.actions.floats().data() + step * actions_,
                                     data_.actions.floats().data() + (step + 1) * actions_);
  if (data_.observations.is_interned() && data_.actions.is_discrete())
    add_repeating_steps(steps, part);
  else
    add_single_steps(steps, part);
}

void StepSource::add_repeating_steps(std::span<const std::int64_t> steps,
                                     SequenceBatch& part) const {
  const auto& index = data_.observations.index();
  const auto inputs = inputs_.count();
  // Distinct values in ascending order, and for each step the rank of its own.
  const auto rank = [&](const auto& code_of, std::vector<std::int32_t>& rank_of_step) {
    std::vector<std::int64_t> codes;
    for (std::size_t i = 0; i < steps.size(); ++i) codes.push_back(code_of(i));
    auto distinct = codes;
    std::ranges::sort(distinct);
    distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
    rank_of_step.clear();
    for (const auto code : codes)
      rank_of_step.push_back(
          static_cast<std::int32_t>(std::ranges::lower_bound(distinct, code) - distinct.begin()));
    return distinct;
  };
  const auto rows = rank([&](std::size_t i) -> std::int64_t { return index[steps[i]]; },
                         part.observation_of_step);
  part.observations.clear();
  for (const auto row : rows)
    part.observations.insert(part.observations.end(), table_.data() + row * inputs,
                             table_.data() + (row + 1) * inputs);
  const auto pairs =
      rank([&](std::size_t i) { return index[steps[i]] * actions_ + part.discrete_actions[i]; },
           part.pair_of_step);
  part.pairs.assign(pairs.size() * static_cast<std::size_t>(inputs + actions_), 0.0F);
  float* out = part.pairs.data();
  for (const auto pair : pairs) {
    std::copy_n(table_.data() + pair / actions_ * inputs, inputs, out);
    out[inputs + pair % actions_] = 1.0F;
    out += inputs + actions_;
  }
}

void StepSource::add_single_steps(std::span<const std::int64_t> steps, SequenceBatch& part) const {
  const auto inputs = inputs_.count();
  part.observations.resize(steps.size() * static_cast<std::size_t>(inputs));
  inputs_.gather(data_.observations, steps, part.observations);
  part.observation_of_step.resize(steps.size());
  std::iota(part.observation_of_step.begin(), part.observation_of_step.end(), 0);
  part.pair_of_step = part.observation_of_step;
  part.pairs.assign(steps.size() * static_cast<std::size_t>(inputs + actions_), 0.0F);
  float* out = part.pairs.data();
  for (std::size_t i = 0; i < steps.size(); ++i, out += inputs + actions_) {
    std::copy_n(part.observations.data() + i * static_cast<std::size_t>(inputs), inputs, out);
    if (data_.actions.is_discrete())
      out[inputs + part.discrete_actions[i]] = 1.0F;
    else
      std::copy_n(part.continuous_actions.data() + i * static_cast<std::size_t>(actions_), actions_,
                  out + inputs);
  }
}

BatchOrder::BatchOrder(const Trajectories& data, std::int64_t batch_size, std::int64_t pool,
                       std::int64_t buffer, std::uint64_t seed, std::int64_t restart)
    : data_(data),
      draws_(data, buffer),
      batch_size_(batch_size),
      pool_(pool),
      per_epoch_(std::max<std::int64_t>(1, data.episodes() / batch_size)),
      seed_(seed),
      restart_(restart) {}

std::span<const std::int64_t> BatchOrder::operator[](std::int64_t number) {
  if (number / per_epoch_ != epoch_) shuffle(number / per_epoch_);
  // What is left over at the end of an epoch is not visited in it; the next one is another mix.
  const auto batch =
      std::span(order_).subspan(static_cast<std::size_t>(number % per_epoch_ * batch_size_),
                                static_cast<std::size_t>(batch_size_));
  draws_.expect(batch);
  return batch;
}

void BatchOrder::shuffle(std::int64_t epoch) {
  epoch_ = epoch;
  Random random(seed_, "batches", static_cast<std::uint64_t>(restart_ << 32 | epoch));
  draws_.shuffle(random, order_);
  if (pool_ <= 1) return;
  const auto used = per_epoch_ * batch_size_;
  for (std::int64_t begin = 0; begin < used; begin += pool_ * batch_size_) {
    const auto count = std::min(pool_ * batch_size_, used - begin);
    const auto pool =
        std::span(order_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
    std::ranges::stable_sort(pool, {}, [&](std::int64_t i) { return data_.length(i); });
    const std::vector<std::int64_t> sorted(pool.begin(), pool.end());
    std::vector<std::int64_t> batches(static_cast<std::size_t>(count / batch_size_));
    std::iota(batches.begin(), batches.end(), 0);
    random.shuffle(std::span(batches));
    auto out = pool.begin();
    for (const auto batch : batches)
      out = std::copy_n(sorted.begin() + batch * batch_size_, batch_size_, out);
  }
}

}  // namespace kindred::latent
