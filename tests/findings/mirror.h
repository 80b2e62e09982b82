// A tiny environment with rewards: repeat what you see. Two known policies act in it, one that does
// and one that does the opposite.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "kindred/envs/environment.h"
#include "kindred/experts/rollout.h"

namespace kindred::testing {

class MirrorLanes final : public Lanes {
 public:
  MirrorLanes(std::int64_t count, const EnvironmentSpec& spec)
      : Lanes(count, spec), shown_(static_cast<std::size_t>(count)) {}

  void observe(LaneList lanes, std::span<float> out) const override {
    for (std::size_t i = 0; i < lanes.size(); ++i)
      out[i] = shown_[static_cast<std::size_t>(lanes[i])];
  }

 protected:
  void start(std::int32_t lane) override {
    shown_[static_cast<std::size_t>(lane)] = static_cast<float>(stream(lane).uniform(-1.0, 1.0));
  }
  void advance(LaneList lanes, const ActionView& actions, std::span<float> rewards,
               std::span<Ending> endings) override {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const float miss = actions.continuous[i] - shown_[static_cast<std::size_t>(lanes[i])];
      rewards[i] = 1.0F - miss * miss;
      endings[i] = Ending::kNone;
      start(lanes[i]);
    }
  }

 private:
  std::vector<float> shown_;
};

/// The reward of a step is 1 less the squared distance between action and observation, both one
/// number; 20 steps. A score of 100 is perfection, 0 the return of doing nothing.
class Mirror final : public Environment {
 public:
  Mirror()
      : Environment({.name = "mirror",
                     .summary = "Repeat what you see.",
                     .observation_shape = {1},
                     .action_kind = ActionKind::kContinuous,
                     .action_width = 1,
                     .action_names = {},
                     .horizon = 20,
                     .states = 0,
                     .reference_returns = ReturnRange{20.0 * (1.0 - 1.0 / 3.0), 20.0}},
                    nlohmann::json::object()) {}

  std::unique_ptr<Lanes> make_lanes(std::int64_t count) const override {
    return std::make_unique<MirrorLanes>(count, spec());
  }
};

/// Acts `gain` times what it sees, with noise.
class GainPolicy final : public Policy {
 public:
  GainPolicy(float gain, float noise)
      : Policy("gain", "A multiple of what is seen."), gain_(gain), noise_(noise) {}
  bool reads_states() const override { return false; }
  void distribution(const Situations& seen, std::span<float> out) const override {
    for (std::size_t i = 0; i < seen.observations.size(); ++i) {
      out[2 * i] = gain_ * seen.observations[i];
      out[2 * i + 1] = noise_;
    }
  }

 private:
  float gain_, noise_;
};

/// `per_policy` episodes by the one that does the opposite (label 0), then by the one that repeats.
inline Trajectories mirror_data(std::int64_t per_policy, std::int64_t seed = 1) {
  GenerateOptions options;
  options.per_expert = per_policy;
  options.seed = seed;
  return rollout(
      Mirror(),
      {std::make_shared<GainPolicy>(-1.0F, 0.1F), std::make_shared<GainPolicy>(1.0F, 0.1F)},
      options);
}

}  // namespace kindred::testing
