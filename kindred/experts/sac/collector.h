// Lets SAC's actor act in many lanes and keeps what happened.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kindred/envs/environment.h"
#include "kindred/experts/network_policy.h"
#include "kindred/experts/sac/options.h"
#include "kindred/experts/sac/replay.h"

namespace kindred::sac {

/// An episode that ended.
struct Ended {
  double sum = 0.0;  ///< Of its rewards.
  std::int64_t length = 0;
};

/// Each episode draws from a stream of its own, and lanes are advanced in fixed groups, so that the
/// result does not depend on the number of threads.
class Collector {
 public:
  Collector(const Environment& environment, const SacOptions& options);
  ~Collector();

  /// Abandons the running episodes and starts new ones; `round` names their streams.
  void restart(std::uint64_t round);
  /// Takes lane_steps in every lane, at random where there is no actor, and adds them to `replay`.
  /// Returns the episodes that ended.
  std::vector<Ended> collect(const InputView& view, const Mlp* actor, Replay& replay);

 private:
  struct Group;
  void begin_episode(Group& group, std::int32_t lane) const;
  void run(Group& group, const InputView& view, const Mlp* actor) const;
  void act(Group& group, const InputView& view, const Mlp* actor) const;
  void note(Group& group) const;

  const Environment& environment_;
  SacOptions options_;
  std::uint64_t round_ = 0;
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace kindred::sac
