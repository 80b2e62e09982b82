// Small datasets given by what each trajectory did, and brute force to compare with.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/data/trajectories.h"

namespace kindred {

using Way = std::vector<std::pair<int, int>>;  // (state, action) of each step

inline Trajectories data_of(const std::vector<Way>& ways, int actions = 3) {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> index, chosen;
  int states = 1;
  Trajectories data;
  for (const auto& way : ways) {
    for (const auto& [state, action] : way) {
      index.push_back(state);
      chosen.push_back(action);
      states = std::max(states, state + 1);
    }
    offsets.push_back(static_cast<std::int64_t>(index.size()));
    data.ids.push_back("e" + std::to_string(data.ids.size()));
  }
  std::vector<float> table;
  for (int i = 0; i < states; ++i) table.push_back(static_cast<float>(i));
  data.offsets = std::move(offsets);
  data.observations = Observations::interned(std::move(table), 1, std::move(index));
  data.actions = Actions::discrete(std::move(chosen), actions);
  return data;
}

/// Random ways; those that `contradict` may take two actions in one state.
inline std::vector<Way> random_ways(Random& random, int count, int states, int actions,
                                    bool contradict) {
  const auto below = [&](int bound) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(bound)));
  };
  std::vector<Way> ways;
  for (int i = 0; i < count; ++i) {
    Way way;
    std::vector<int> policy;
    for (int s = 0; s < states; ++s) policy.push_back(below(actions));
    for (int steps = 1 + below(4); steps > 0; --steps) {
      const int state = below(states);
      way.emplace_back(state, contradict && below(8) == 0
                                  ? below(actions)
                                  : policy[static_cast<std::size_t>(state)]);
    }
    ways.push_back(way);
  }
  return ways;
}

inline bool disagree(const Way& a, const Way& b) {
  for (const auto& [state, action] : a)
    for (const auto& [other_state, other_action] : b)
      if (state == other_state && action != other_action) return true;
  return false;
}

}  // namespace kindred
