// How often the episodes of a policy in Extra reach the goal and the special cells.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/data/trajectories.h"
#include "kindred/envs/extra_map.h"

namespace kindred {

/// Shares of episodes: that end on the goal, and that reach both special cells, or at least one.
struct ExtraRates {
  double goal = 0.0;
  double both = 0.0;
  double any = 0.0;
};

/// Special cells must leave the observation once reached. One reached by an episode's very last
/// step is not seen.
inline ExtraRates extra_rates(const Trajectories& data, std::int32_t label) {
  ExtraRates rates;
  double episodes = 0.0;
  std::vector<float> observation(static_cast<std::size_t>(data.observations.dim()));
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    if (data.labels[i] != label) continue;
    const auto last = data.offsets[i + 1] - 1;
    data.observations.copy(last, last + 1, observation.data());
    const auto map = decode_extra(observation);
    const int left = map.special[0].has_value() + map.special[1].has_value();
    episodes += 1.0;
    rates.goal += data.terminals[last] != 0;
    rates.both += left == 0;
    rates.any += left < ExtraMap::kSpecialCells;
  }
  return {rates.goal / episodes, rates.both / episodes, rates.any / episodes};
}

}  // namespace kindred
