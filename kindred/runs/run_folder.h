// A run on disk. The folder holds
//   run.json     the run record            labels.csv   episode, label, margin
//   config.toml  the resolved options      trace.csv    one line per restart and round
//   scores.h5    [episodes, k] matrix, labels of every restart, latent vectors where there are any
//   centres.h5   the fitted centres        state.h5     only while a run can be resumed
// and, once its policies were evaluated,
//   evaluation.json  how they did          policies.h5  one policy per cluster, as evaluated
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/runs/run_record.h"

namespace kindred {

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path record() const { return folder_ / "run.json"; }
  std::filesystem::path config() const { return folder_ / "config.toml"; }
  std::filesystem::path labels() const { return folder_ / "labels.csv"; }
  std::filesystem::path trace() const { return folder_ / "trace.csv"; }
  std::filesystem::path scores() const { return folder_ / "scores.h5"; }
  std::filesystem::path centres() const { return folder_ / "centres.h5"; }
  std::filesystem::path state() const { return folder_ / "state.h5"; }
  std::filesystem::path evaluation() const { return folder_ / "evaluation.json"; }
  std::filesystem::path policies() const { return folder_ / "policies.h5"; }
  const std::filesystem::path& path() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Fills the parts of a record that follow from the clustering.
void describe_clustering(const Clustering& clustering, RunRecord& record);

/// Writes everything but the config; the record comes last, so a folder with a record is complete.
void save_run(const RunFolder& folder, const Trajectories& data, const Clustering& clustering,
              const RunRecord& record);

/// A finished run. `misfit_below[c]` is the score (per step where scores sum over steps) under
/// which a trajectory fits cluster c worse than all but one in a thousand of its own.
struct LoadedRun {
  RunRecord record;
  std::vector<std::string> episodes;
  std::vector<std::int32_t> labels;
  std::vector<double> margins;  ///< How sure each label is.
  std::shared_ptr<const Centres> centres;
  std::vector<double> misfit_below;
};

/// Throws InvalidArgument when `folder` is not a finished run, DataFormatError when it is damaged.
LoadedRun load_run(const RunFolder& folder);

}  // namespace kindred
