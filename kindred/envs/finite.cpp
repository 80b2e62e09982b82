#include "kindred/envs/finite.h"

#include <algorithm>

namespace kindred {
namespace {

class FiniteLanes final : public Lanes {
 public:
  FiniteLanes(const FiniteEnvironment& environment, std::int64_t count)
      : Lanes(count, environment.spec()),
        environment_(environment),
        states_(static_cast<std::size_t>(count), 0) {}

  void observe(LaneList lanes, std::span<float> out) const override {
    const auto dim = static_cast<std::size_t>(environment_.spec().observation_dim());
    for (std::size_t i = 0; i < lanes.size(); ++i)
      environment_.observe_state(state(lanes[i]), out.subspan(i * dim, dim));
  }

  void states(LaneList lanes, std::span<std::int32_t> out) const override {
    std::ranges::transform(lanes, out.begin(), [&](auto lane) { return state(lane); });
  }

 protected:
  void start(std::int32_t lane) override { state(lane) = environment_.start(stream(lane)); }

  void advance(LaneList lanes, const ActionView& actions, std::span<float> rewards,
               std::span<Ending> endings) override {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      auto& current = state(lanes[i]);
      current = environment_.next(current, actions.discrete[i], stream(lanes[i]));
      rewards[i] = 0.0f;
      endings[i] = environment_.is_terminal(current) ? Ending::kTerminal : Ending::kNone;
    }
  }

 private:
  std::int32_t& state(std::int32_t lane) { return states_[static_cast<std::size_t>(lane)]; }
  std::int32_t state(std::int32_t lane) const { return states_[static_cast<std::size_t>(lane)]; }

  const FiniteEnvironment& environment_;
  std::vector<std::int32_t> states_;
};

}  // namespace

std::unique_ptr<Lanes> FiniteEnvironment::make_lanes(std::int64_t count) const {
  return std::make_unique<FiniteLanes>(*this, count);
}

}  // namespace kindred
