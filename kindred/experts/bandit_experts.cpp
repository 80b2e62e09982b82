#include <fmt/format.h>

#include <array>

#include "kindred/experts/experts.h"

namespace kindred {

Policies bandit_experts(const Bandit& environment) {
  const auto& names = environment.spec().action_names;
  Policies experts;
  for (std::size_t first = 0; first < Bandit::kActions; ++first)
    for (std::size_t second = 0; second < Bandit::kActions; ++second) {
      const std::array<std::size_t, Bandit::kStates> action = {first, second};
      experts.push_back(TabularPolicy::deterministic(
          fmt::format("{}-{}", names[first], names[second]),
          fmt::format("The {} action in the first state, the {} action in the second.",
                      names[first], names[second]),
          environment.spec(), [&](std::int32_t state) {
            return static_cast<std::int32_t>(action[static_cast<std::size_t>(state)]);
          }));
    }
  return experts;
}

}  // namespace kindred
