// A block of episodes of one policy, or of several that take turns, run side by side until the last
// has ended.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/core/workers.h"
#include "kindred/envs/environment.h"
#include "kindred/experts/policy.h"
#include "kindred/experts/turns.h"

namespace kindred {

/// Columns over steps.
struct Steps {
  std::vector<std::int32_t> states;    ///< Where the environment has states;
  std::vector<std::uint8_t> bytes;     ///< where it has none and observes 0 and 1 only;
  std::vector<float> observations;     ///< otherwise. [steps, observation_dim]
  std::vector<std::int32_t> discrete;  ///< The chosen actions,
  std::vector<float> continuous;       ///< of one kind.
  std::vector<float> rewards;
  std::vector<std::int32_t> actors;  ///< Who acted, where policies take turns.
  std::vector<Ending> endings;
};

/// Episodes one after the other, and where each begins.
struct EpisodeBlock {
  std::vector<std::int64_t> offsets;  // [count + 1]
  Steps steps;

  std::int64_t episodes() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  /// Keeps the first `count` steps, if there are more; an episode that this cuts ends as by its
  /// horizon.
  void keep_steps(std::int64_t count);
};

/// Episode i draws from the stream (seed, "rollout", first_stream + i). Runs on the calling thread
/// alone; throws Interrupted when `workers` are asked to stop.
EpisodeBlock run_episodes(const Environment& environment, const Policy& policy, std::uint64_t seed,
                          std::uint64_t first_stream, std::int64_t count,
                          const Workers& workers = {});
/// The same of policies that take turns, of which `first` begins. Who acts when is drawn from the
/// streams (seed, "turns", first_stream + i).
EpisodeBlock run_episodes(const Environment& environment, const Policies& policies,
                          std::int64_t first, const TurnOptions& turns, std::uint64_t seed,
                          std::uint64_t first_stream, std::int64_t count,
                          const Workers& workers = {});

}  // namespace kindred
