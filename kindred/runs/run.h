// A finished run, read back from its folder, and the dataset it was made from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/data/label_writer.h"
#include "kindred/runs/calibration.h"
#include "kindred/runs/dataset.h"
#include "kindred/runs/run_folder.h"
#include "kindred/runs/run_record.h"

namespace kindred {

struct LoadedRun {
  RunRecord record;
  std::vector<std::string> episodes;
  std::vector<std::int32_t> labels;  ///< Each from 0 to below k.
  std::vector<double> margins;       ///< How sure each label is.
  std::shared_ptr<const Centres> centres;
  std::optional<Calibration> calibration;  ///< Older runs have none.
  /// Those have for each cluster the score (per step where scores sum over steps) under which a
  /// trajectory fits it worse than all but one in a thousand of its own.
  std::vector<double> misfit_below;
};

/// Throws InvalidArgument when `folder` is not a finished run or one that is being written,
/// DataFormatError when it is damaged.
LoadedRun load_run(const RunFolder& folder);

/// The run with the labels of another of its answers, of which the first is its own; how sure they
/// are is not known. Throws InvalidArgument when it has no such answer.
LoadedRun with_alternative(LoadedRun run, const RunFolder& folder, std::int64_t number);

/// Writes a finished run into `folder`, whole or not at all. `config` becomes config.toml.
void save_run(const RunFolder& folder, const Trajectories& data, const Clustering& clustering,
              const RunRecord& record, const std::string& config);

/// Where the dataset of a run is: at `moved_to`, or where the run found it when that is empty; of
/// several files `moved_to` is the folder. Throws InvalidArgument naming `flag` when it is not
/// there.
std::vector<std::string> dataset_files(const RunRecord& record, const std::string& moved_to,
                                       const std::string& flag);

/// The dataset of a run, read, labelled and selected as the run did. Throws InvalidArgument when it
/// is not the one the run was made from.
Trajectories load_dataset(const RunRecord& record, const std::string& moved_to,
                          const std::string& flag = "--data");

/// Everything in the file a run was made from, with the labels the run found.
struct LabelledDataset {
  Dataset dataset;       ///< All episodes, also those the run left out.
  EpisodeLabels labels;  ///< Of all episodes.
  std::int64_t clusters = 0;
  DatasetOptions options{};  ///< How it was read.
};

/// The same without labels, for a record of which nothing but the dataset is looked at. Throws as
/// load_dataset.
LabelledDataset load_unlabelled_dataset(const RunRecord& record, const std::string& moved_to,
                                        const std::string& flag);

/// Throws as load_dataset.
LabelledDataset load_labelled_dataset(const LoadedRun& run, const std::string& moved_to,
                                      const std::string& flag);

}  // namespace kindred
