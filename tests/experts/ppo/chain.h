// A discrete environment for tests: five cells in a row, of which the last one pays and ends the
// episode. Going left (action 0) or right (action 1) costs a little; action 2 does nothing.
#pragma once

#include <algorithm>

#include "kindred/envs/environment.h"

namespace kindred {

class Chain final : public Environment {
 public:
  static constexpr std::int32_t kCells = 5, kRight = 1;

  explicit Chain(std::int64_t horizon = 12)
      : Environment({.name = "chain",
                     .summary = "Five cells in a row.",
                     .observation_shape = {kCells},
                     .action_kind = ActionKind::kDiscrete,
                     .action_width = 3,
                     .action_names = {},
                     .horizon = horizon,
                     .states = 0},
                    {{"horizon", horizon}}) {}

  std::unique_ptr<Lanes> make_lanes(std::int64_t count) const override {
    return std::make_unique<ChainLanes>(count, spec());
  }

  static std::vector<float> observation(std::int32_t cell) {
    std::vector<float> result(kCells, 0.0f);
    result[static_cast<std::size_t>(cell)] = 1.0f;
    return result;
  }

 private:
  class ChainLanes final : public Lanes {
   public:
    ChainLanes(std::int64_t count, const EnvironmentSpec& spec)
        : Lanes(count, spec), cells_(static_cast<std::size_t>(count)) {}

    void observe(LaneList lanes, std::span<float> out) const override {
      for (std::size_t i = 0; i < lanes.size(); ++i)
        std::ranges::copy(observation(cells_[static_cast<std::size_t>(lanes[i])]),
                          out.begin() + static_cast<std::ptrdiff_t>(i * kCells));
    }

   protected:
    void start(std::int32_t lane) override {
      cells_[static_cast<std::size_t>(lane)] =
          static_cast<std::int32_t>(stream(lane).below(kCells - 1));
    }

    void advance(LaneList lanes, const ActionView& actions, std::span<float> rewards,
                 std::span<Ending> endings) override {
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        auto& cell = cells_[static_cast<std::size_t>(lanes[i])];
        const auto action = actions.discrete[i];
        cell = std::max(0, cell + (action == kRight ? 1 : action == 0 ? -1 : 0));
        const bool paid = cell == kCells - 1;
        rewards[i] = paid ? 1.0f : -0.1f;
        endings[i] = paid ? Ending::kTerminal : Ending::kNone;
      }
    }

   private:
    std::vector<std::int32_t> cells_;
  };
};

}  // namespace kindred
