#include "kindred/envs/environment.h"

#include <functional>
#include <numeric>

#include "kindred/core/error.h"

namespace kindred {

std::int64_t EnvironmentSpec::observation_dim() const {
  return std::accumulate(observation_shape.begin(), observation_shape.end(), std::int64_t{1},
                         std::multiplies<>{});
}

Lanes::Lanes(std::int64_t count, const EnvironmentSpec& spec)
    : discrete_(spec.is_discrete()),
      action_width_(spec.action_width),
      horizon_(spec.horizon),
      steps_left_(static_cast<std::size_t>(count), 0),
      streams_(static_cast<std::size_t>(count), Random(0)) {}

void Lanes::reset(std::int32_t lane, Random stream) {
  streams_[static_cast<std::size_t>(lane)] = stream;
  steps_left_[static_cast<std::size_t>(lane)] = horizon_;
  start(lane);
}

void Lanes::step(LaneList lanes, const ActionView& actions, std::span<float> rewards,
                 std::span<Ending> endings) {
  check_actions(lanes, actions);
  for (const auto lane : lanes)
    if (steps_left_[static_cast<std::size_t>(lane)] == 0)
      throw InvalidArgument("lane {} has no running episode; reset it before stepping", lane);

  advance(lanes, actions, rewards, endings);

  for (std::size_t i = 0; i < lanes.size(); ++i) {
    auto& left = steps_left_[static_cast<std::size_t>(lanes[i])];
    left = endings[i] == Ending::kTerminal ? 0 : left - 1;
    if (left == 0 && endings[i] == Ending::kNone) endings[i] = Ending::kTimeout;
  }
}

void Lanes::states(LaneList, std::span<std::int32_t>) const {
  throw InvalidArgument("the states of this environment are not numbered");
}

bool Lanes::near_failure(std::int32_t lane) const {
  return 4 * steps_left_[static_cast<std::size_t>(lane)] < horizon_;
}

void Lanes::check_actions(LaneList lanes, const ActionView& actions) const {
  const auto found = discrete_ ? actions.discrete.size() : actions.continuous.size();
  const auto expected = lanes.size() * (discrete_ ? 1 : static_cast<std::size_t>(action_width_));
  if (found != expected)
    throw InvalidArgument("{} lanes need {} {} action values, not {}", lanes.size(), expected,
                          discrete_ ? "discrete" : "continuous", found);
  for (const auto action : actions.discrete)
    if (action < 0 || action >= action_width_)
      throw InvalidArgument("action {} is outside 0..{}", action, action_width_ - 1);
}

void Environment::observe_state(std::int32_t, std::span<float>) const {
  throw InvalidArgument("the states of environment '{}' are not numbered", spec_.name);
}

}  // namespace kindred
