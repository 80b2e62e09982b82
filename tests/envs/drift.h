// A continuous environment for tests: a point in the plane that drifts where it is pushed, and
// whose episode ends a distance of 2 from the origin. Its states cannot be numbered.
#pragma once

#include <cmath>

#include "kindred/envs/environment.h"

namespace kindred {

class Drift final : public Environment {
 public:
  Drift()
      : Environment({.name = "drift",
                     .summary = "A point that goes where it is pushed.",
                     .observation_shape = {2},
                     .action_kind = ActionKind::kContinuous,
                     .action_width = 2,
                     .action_names = {},
                     .horizon = 15,
                     .states = 0},
                    nlohmann::json::object()) {}

  std::unique_ptr<Lanes> make_lanes(std::int64_t count) const override {
    return std::make_unique<DriftLanes>(count, spec());
  }

 private:
  class DriftLanes final : public Lanes {
   public:
    DriftLanes(std::int64_t count, const EnvironmentSpec& spec)
        : Lanes(count, spec), points_(static_cast<std::size_t>(2 * count)) {}

    void observe(LaneList lanes, std::span<float> out) const override {
      for (std::size_t i = 0; i < lanes.size(); ++i)
        for (std::size_t d = 0; d < 2; ++d) out[2 * i + d] = coordinate(lanes[i], d);
    }

   protected:
    void start(std::int32_t lane) override {
      for (std::size_t d = 0; d < 2; ++d)
        coordinate(lane, d) = static_cast<float>(stream(lane).uniform(-0.5, 0.5));
    }

    void advance(LaneList lanes, const ActionView& actions, std::span<float> rewards,
                 std::span<Ending> endings) override {
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        for (std::size_t d = 0; d < 2; ++d)
          coordinate(lanes[i], d) += 0.2f * actions.continuous[2 * i + d] +
                                     0.05f * static_cast<float>(stream(lanes[i]).normal());
        const float distance = std::hypot(coordinate(lanes[i], 0), coordinate(lanes[i], 1));
        rewards[i] = -distance;
        endings[i] = distance > 2.0f ? Ending::kTerminal : Ending::kNone;
      }
    }

   private:
    float& coordinate(std::int32_t lane, std::size_t d) {
      return points_[2 * static_cast<std::size_t>(lane) + d];
    }
    float coordinate(std::int32_t lane, std::size_t d) const {
      return points_[2 * static_cast<std::size_t>(lane) + d];
    }
    std::vector<float> points_;  // [lanes, 2]
  };
};

}  // namespace kindred
