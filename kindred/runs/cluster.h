// From a dataset to a finished run on disk: what `kindred cluster` does, for every door.
#pragma once

#include <string>
#include <vector>

#include "kindred/core/progress.h"
#include "kindred/methods/method.h"
#include "kindred/runs/run.h"

namespace kindred {

struct ClusterRequest {
  DatasetOptions dataset;
  ConfiguredMethod* method = nullptr;  ///< With its options set.
  RunFolder folder{""};
  std::string command;  ///< As typed, for the record.
  std::string config;   ///< What config.toml will hold.
  bool force = false;   ///< Replace a finished run that is there.
  /// Options of the method: those that a fit would not read are refused.
  std::vector<std::string> set_by_user{};
};

struct ClusterOutcome {
  enum class End { kFinished, kStopped, kWasFinished };

  End end = End::kFinished;
  RunRecord record;         ///< Unless stopped.
  std::int64_t rounds = 0;  ///< That a stopped run has saved.
};

/// Reads the data, fits, and saves the run: the folder then holds a whole run, as it did before in
/// case of an error. Where `run.stop_requested` ends it early, what was fitted so far is saved, and
/// the same request with `run.resume` goes on; a finished run is left as it is then. The checkpoint
/// is kept in the run folder. Throws InvalidArgument when another process is at work there, or when
/// it holds a finished run that is not to be replaced. Where several processes share the run all of
/// them call it; only the first touches the folder and returns a record.
ClusterOutcome cluster(const ClusterRequest& request, RunContext run);
/// The same of data that was read, or made, before.
ClusterOutcome cluster(const ClusterRequest& request, const Dataset& dataset, RunContext run);

}  // namespace kindred
