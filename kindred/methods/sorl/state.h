// Everything SORL knows between two rounds, as a value that can be saved: a run killed at any
// moment continues from its last saved state to the same result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/methods/sorl/mixture.h"
#include "kindred/methods/sorl/options.h"

namespace kindred::sorl {

/// One random start on its way.
struct Restart {
  bool done = false;
  bool converged = false;
  std::int64_t rounds = 0;
  double objective = -std::numeric_limits<double>::infinity();
  double objective_before_merge = -std::numeric_limits<double>::infinity();
  double best_objective = -std::numeric_limits<double>::infinity();
  double plateau_objective = -std::numeric_limits<double>::infinity();  ///< At the last progress.
  std::int64_t plateau_rounds = 0;                                      ///< Rounds since then.
  std::int64_t changed = 0;
  std::vector<MergeStep> merges;
  std::vector<std::int32_t> labels;  ///< [episodes], cluster 0..k-1.

  std::vector<std::int64_t> sizes(std::int64_t k) const;  ///< [k]
};

struct State {
  std::int64_t round = 0;  ///< Rounds completed.
  std::vector<Restart> restarts;
  std::vector<TraceEntry> trace;

  /// The restarts that are not done.
  std::vector<std::int64_t> running() const;
  /// The restart with the highest objective.
  std::int64_t best() const;
};

State start(const Trajectories& data, const Options& options);

/// Saves the state with the policies, atomically.
void save_state(const State& state, const Mixture& mixture, const Options& options,
                const std::filesystem::path& path);

/// Restores what save_state wrote. Throws InvalidArgument when it belongs to other options or data.
State load_state(Mixture& mixture, const Options& options, const Trajectories& data,
                 const std::filesystem::path& path);

}  // namespace kindred::sorl
