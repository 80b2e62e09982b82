// Lets policies act in an environment and records what happened as Trajectories.
//
// Episode i draws from a stream of its own, (seed, "rollout", i): the same seed gives the same
// bytes whatever the number of threads. Where the environment numbers its states, observations are
// interned, and the table holds those that occur, in the order of their state numbers. Recorded
// actions are the ones the policy chose, whether or not the environment executed them; where it
// clips continuous actions, they are recorded clipped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kindred/core/options.h"
#include "kindred/core/workers.h"
#include "kindred/data/trajectories.h"
#include "kindred/envs/environment.h"
#include "kindred/experts/policy.h"
#include "kindred/experts/turns.h"

namespace kindred {

struct GenerateOptions {
  std::int64_t per_expert = 20000;  ///< Episodes of each expert, unless `steps` are given.
  std::int64_t steps = 0;           ///< In all, the same number of each expert; 0: by episodes.
  std::int64_t seed = 0;            ///< Names the random streams.
  bool shuffle = false;             ///< Mix the experts' episodes instead of one after the other.
  /// "0.03,0.2": of all episodes or steps, the shares of the first experts; the others divide the
  /// rest equally. Empty: the same for each.
  std::string shares = {};
  TurnOptions turns = {};  ///< Whether experts take over from each other within an episode.
  /// Told the share that is done, on the thread that asked for the data; may be empty.
  std::function<void(double)> progress = {};
  Workers workers = {};  ///< No option: they never change the result.
  OptionTable describe();
};

/// `per_expert` episodes of each policy, or as many as make `steps` (each policy's last one is cut
/// as by its horizon), labelled by its index, expert by expert or shuffled (the same episodes in
/// random order). Where they take turns, `actors` says who acted when, an episode is counted as
/// that of who begins it and labelled by who acts most. With `shares` the same number in all is
/// divided by them. Provenance names the environment, its options and the above. Throws Interrupted
/// when asked to stop.
Trajectories rollout(const Environment& environment, const Policies& policies,
                     GenerateOptions options);

/// A rollout of the environment's own experts, or of the given ones, with the oracle's labels.
Trajectories generate(const Environment& environment, const GenerateOptions& options);
Trajectories generate(const Environment& environment, const Policies& experts,
                      const GenerateOptions& options);

}  // namespace kindred
