// Bandit: the paper's smallest ambiguous task, a contextual bandit of two states and two actions.
//
// Each step shows a freshly drawn state, whatever was done before. With the default horizon of 1 an
// episode is a single (state, action) pair, so there are four possible trajectories, and two
// unrelated ways to explain all of them by two deterministic policies. Longer horizons make the
// policies identifiable. Observation: the state, one-hot.
#pragma once

#include "kindred/envs/finite.h"

namespace kindred {

struct BanditOptions {
  std::int64_t horizon = 1;        ///< Steps of every episode.
  double first_state_share = 0.5;  ///< Probability that a step shows the first state.
  OptionTable describe();
};

class Bandit final : public FiniteEnvironment {
 public:
  using Options = BanditOptions;
  static constexpr const char* kName = "bandit";
  static constexpr const char* kSummary =
      "Two states, two actions: the smallest dataset with two unrelated valid clusterings.";
  static constexpr std::int32_t kStates = 2;
  static constexpr std::int32_t kActions = 2;

  explicit Bandit(Options options = {});

  std::int32_t start(Random& random) const override;
  std::int32_t next(std::int32_t state, std::int32_t action, Random& random) const override;
  bool is_terminal(std::int32_t) const override { return false; }
  void observe_state(std::int32_t state, std::span<float> out) const override;

 private:
  double first_state_share_;
};

}  // namespace kindred
