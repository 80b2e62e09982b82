// The dataset a command works on: which file, how to read it, which episodes, what truth.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "kindred/core/options.h"
#include "kindred/data/formats.h"
#include "kindred/data/label_writer.h"
#include "kindred/data/trajectories.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/runs/run_folder.h"

namespace kindred::app {

struct DatasetOptions {
  std::string data;
  ReadOptions read;
  std::int64_t min_length = 1;
  std::int64_t max_length = 0;
  std::int64_t sample = 0;
  std::int64_t sample_seed = 0;
  std::string truth;
  std::vector<std::int64_t> truth_boundary;
  bool truth_return_change = false;

  /// How to read the file.
  OptionTable describe_reading();
  /// Which episodes to keep.
  OptionTable describe_selection();
  /// Where true labels come from when the file has none.
  OptionTable describe_truth();

  /// Takes over how a run read and selected its data, from its config file.
  void adopt(const std::string& config);
  /// Takes over where a run's true labels came from, unless that file is gone.
  void adopt_truth(const std::string& config);

  /// Reads, selects and labels. Throws as the data room does.
  Trajectories load() const;
  /// The episodes to keep of all.
  Trajectories select(Trajectories loaded) const;
};

/// The dataset of a run, read, selected and labelled as the run did; `moved_to` names its file
/// where that is no longer where the run found it, and may be empty.
Trajectories load_run_dataset(const RunFolder& folder, const RunRecord& record,
                              const std::string& moved_to);

/// Everything in the file a run was made from, with the labels the run found.
struct LabelledDataset {
  std::string path;
  Format format;
  Trajectories data;     ///< All episodes, also those the run left out.
  EpisodeLabels labels;  ///< Of all episodes of `data`.
  std::int64_t clusters;
};

/// Where the dataset of a run is: at `moved_to`, or where the run found it when that is empty.
/// Throws InvalidArgument naming `flag` when it is not there.
std::string run_dataset_path(const RunRecord& record, const std::string& moved_to,
                             const std::string& flag);

/// Throws InvalidArgument when the file at `path` is not the one the run clustered.
LabelledDataset load_labelled_dataset(const std::string& run_folder, const std::string& moved_to,
                                      const std::string& flag);

/// Tells datasets of one shape apart: a number made of all actions, as text.
std::string fingerprint_of(const Trajectories& data);

/// The dataset for a record: path, format, size, dimensions, provenance.
Json describe_dataset(const Trajectories& data, const std::string& path);

/// NMI between the oracle's labels and the true ones; nothing when either is unknown.
std::optional<double> oracle_ceiling(const Trajectories& data);

/// Adds nmi, ari, accuracy, purity, homogeneity and completeness.
void add_scores(Json& json, const ClusteringScores& scores);
void tell_scores(const ClusteringScores& scores, const std::optional<double>& ceiling);

}  // namespace kindred::app
