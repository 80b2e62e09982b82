#include "kindred/envs/bandit.h"

#include <algorithm>

namespace kindred {
namespace {

EnvironmentSpec spec_of(const BanditOptions& options) {
  return {.name = Bandit::kName,
          .summary = Bandit::kSummary,
          .observation_shape = {Bandit::kStates},
          .action_kind = ActionKind::kDiscrete,
          .action_width = Bandit::kActions,
          .action_names = {"first", "second"},
          .horizon = options.horizon,
          .states = Bandit::kStates,
          .binary_observations = true};
}

}  // namespace

OptionTable BanditOptions::describe() {
  return {integer("horizon", horizon, 1, 1'000'000, "Steps of every episode."),
          real("first-state-share", first_state_share, 0.0, 1.0,
               "Probability that a step shows the first state.")};
}

Bandit::Bandit(Options options)
    : FiniteEnvironment(spec_of(checked(options)), to_json(options.describe())),
      first_state_share_(options.first_state_share) {}

std::int32_t Bandit::start(Random& random) const {
  return random.uniform() < first_state_share_ ? 0 : 1;
}

std::int32_t Bandit::next(std::int32_t, std::int32_t, Random& random) const {
  return start(random);
}

void Bandit::observe_state(std::int32_t state, std::span<float> out) const {
  std::ranges::fill(out, 0.0f);
  out[static_cast<std::size_t>(state)] = 1.0f;
}

}  // namespace kindred
