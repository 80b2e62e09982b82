#include "kindred/methods/policy_search/conflicts/step_halves.h"

#include <algorithm>
#include <utility>

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kBlocks = 10;                      // of an episode
constexpr std::int64_t kLeastBlock = 2, kMostBlock = 50;  // steps

}  // namespace

StepHalves::StepHalves(const Trajectories& data)
    : halves_(static_cast<std::size_t>(data.steps()), 0) {
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto block = std::clamp(data.length(i) / kBlocks, kLeastBlock, kMostBlock);
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      halves_[static_cast<std::size_t>(t)] =
          static_cast<std::uint8_t>((t - data.offsets[i]) / block % 2);
  }
}

Trajectories StepHalves::half(const Trajectories& data, int which) const {
  std::vector<std::int64_t> steps, offsets{0};
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      if (halves_[static_cast<std::size_t>(t)] == which) steps.push_back(t);
    if (std::ssize(steps) == offsets.back()) steps.push_back(data.offsets[i]);
    offsets.push_back(std::ssize(steps));
  }
  Trajectories result;
  const auto dim = data.observations.dim(), width = data.actions.dim();
  if (data.observations.is_interned()) {
    std::vector<std::int32_t> index;
    for (const auto t : steps) index.push_back(data.observations.index()[t]);
    result.observations = Observations::interned(data.observations.table(), dim,
                                                 Column<std::int32_t>(std::move(index)));
  } else {
    std::vector<float> seen(steps.size() * static_cast<std::size_t>(dim));
    data.observations.gather(steps, seen.data());
    result.observations = Observations::dense(Column<float>(std::move(seen)), dim);
  }
  if (data.actions.is_discrete()) {
    std::vector<std::int32_t> done;
    for (const auto t : steps) done.push_back(data.actions.ints()[t]);
    result.actions = Actions::discrete(Column<std::int32_t>(std::move(done)), data.actions.count());
  } else {
    std::vector<float> done;
    for (const auto t : steps)
      done.insert(done.end(), data.actions.floats().data() + t * width,
                  data.actions.floats().data() + (t + 1) * width);
    result.actions = Actions::continuous(Column<float>(std::move(done)), width);
  }
  result.offsets = std::move(offsets);
  result.ids = data.ids;
  return result;
}

}  // namespace kindred::policy_search
