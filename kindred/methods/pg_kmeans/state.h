// Everything PG-Kmeans knows between two rounds, as a value that can be saved: a run killed at any
// moment continues from its last saved state to the same result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/methods/pg_kmeans/learner.h"
#include "kindred/methods/pg_kmeans/options.h"

namespace kindred::pg_kmeans {

enum class Phase { kFitting, kRefining, kDone };

/// One random start on its way.
struct Restart {
  Phase phase = Phase::kFitting;
  std::int64_t phase_rounds = 0;  ///< Rounds since the phase began.
  std::int64_t rounds = 0;
  bool converged = false;
  double objective = 0.0;
  double objective_before_merge = 0.0;
  std::int64_t changed = 0;
  std::int64_t reseeds = 0;
  std::vector<MergeStep> merges;
  std::vector<std::int32_t> labels;        ///< [episodes], cluster 0..k-1.
  std::vector<std::uint8_t> alive;         ///< [k]: not merged away and not given up.
  std::vector<std::int64_t> empty_rounds;  ///< [k]: rounds since the cluster had a member.

  std::vector<std::int64_t> sizes() const;  ///< [k]
};

struct State {
  std::int64_t round = 0;  ///< Rounds completed.
  std::vector<Restart> restarts;
  std::vector<TraceEntry> trace;

  bool running() const;
  /// The restart with the highest objective.
  std::int64_t best() const;
};

/// Random equal partitions (or fingerprints), one per restart.
State start(const Trajectories& data, const Options& options, const Workers& workers);

/// Saves the state with the learner's policies, atomically.
void save_state(const State& state, const Learner& learner, const Options& options,
                const std::filesystem::path& path);

/// Restores what save_state wrote. Throws InvalidArgument when it belongs to other options or data.
State load_state(Learner& learner, const Options& options, const Trajectories& data,
                 const std::filesystem::path& path);

}  // namespace kindred::pg_kmeans
