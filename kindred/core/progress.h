// How a running method speaks to whoever watches it: progress out, a request to stop in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kindred/core/workers.h"

namespace kindred {

class Communicator;

/// One report. Within an iteration only the stage and the fraction are set.
struct Progress {
  /// "estimate" before the first round of a clustering, "round" after one, "training" within;
  /// anything else is work without rounds, called by its name.
  std::string stage;
  std::int64_t iteration = 0;       ///< 1-based.
  std::int64_t max_iterations = 0;  ///< 0 when unknown.
  double fraction = 0.0;            ///< Of the current iteration's own work.
  double objective = 0.0;           ///< The best restart's objective.
  std::int64_t changed = 0;         ///< Labels changed in the best restart.
  std::int64_t running = 0;         ///< Restarts that have not converged yet.
  std::vector<std::int64_t> sizes;  ///< Cluster sizes of the best restart.
  double seconds = 0.0;             ///< Since the method started; an estimate's: expected in all.
};

/// What a method needs to know about the run around it: besides threads and the request to stop,
/// who watches and what is kept.
struct RunContext : Workers {
  /// Called only on the thread that called the method; may be empty.
  std::function<void(const Progress&)> progress;
  std::filesystem::path checkpoint;    ///< State file; empty: keep no state.
  bool resume = false;                 ///< Continue from `checkpoint` if it exists.
  std::string data_name = "the data";  ///< What messages call the dataset: its path.
  std::string device = "cpu";          ///< "cpu" or "cuda".
  /// The processes that share the run (kindred/dist/communicator.h); empty: this one alone.
  std::shared_ptr<Communicator> communicator;

  void report(const Progress& p) const {
    if (progress) progress(p);
  }
};

}  // namespace kindred
