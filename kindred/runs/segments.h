// From a dataset to who acted when, on disk: what `kindred segment` does, for every door.
//
// The folder holds segments.csv (episode, start, end, policy, posterior, earliest, latest),
// unsure.csv (episode, start, end, policy, posterior, first, last: a line for each policy that may
// have acted in a stretch), idle.csv (stretches in which nothing happens), evidence.h5
// (segment_evidence.h) and segments.json, the record.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kindred/core/progress.h"
#include "kindred/runs/dataset.h"
#include "kindred/runs/run.h"
#include "kindred/segments/idle.h"
#include "kindred/segments/segmentation.h"

namespace kindred {

class SegmentFolder {
 public:
  explicit SegmentFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path segments() const { return folder_ / "segments.csv"; }
  std::filesystem::path unsure() const { return folder_ / "unsure.csv"; }
  std::filesystem::path idle() const { return folder_ / "idle.csv"; }
  std::filesystem::path evidence() const { return folder_ / "evidence.h5"; }
  std::filesystem::path record() const { return folder_ / "segments.json"; }
  std::filesystem::path report() const { return folder_ / "report.html"; }
  const std::filesystem::path& path() const { return folder_; }
  bool is_finished() const { return std::filesystem::exists(record()); }

 private:
  std::filesystem::path folder_;
};

/// Whether a folder was made by 'kindred segment' and is no run.
bool holds_segments(const std::filesystem::path& folder);

struct SegmentRequest {
  DatasetOptions dataset;
  SegmentOptions options;
  std::string run;  ///< A finished run whose policies to use; empty: they are looked for.
  SegmentFolder folder{""};
  std::string command;  ///< As typed, for the record.
  bool force = false;   ///< Replace segments that are there.
};

/// Who acted when in a dataset, with what can be said of it.
struct SegmentedDataset {
  Segmentation found;
  std::vector<IdleStretch> idle;
  nlohmann::ordered_json record;
};

/// Reads the data, finds the segments and writes the folder, whole or not at all. Throws
/// InvalidArgument when it holds others that are not to be replaced. Every rank reads all of the
/// data; the first writes, and alone has idle stretches and a record.
SegmentedDataset segment_dataset(const SegmentRequest& request, const RunContext& run);

/// How often each policy follows each other one: [policies][policies].
std::vector<std::vector<std::int64_t>> count_followers(const Segmentation& found);

/// Segments read back from a folder, with the names of their episodes.
struct LoadedSegments {
  nlohmann::ordered_json record;
  std::vector<std::string> episodes;  ///< Of each segment.
  std::vector<Segment> segments;      ///< Their `episode` is not set.
  std::vector<std::string> unsure_episodes;
  std::vector<UnsureStretch> unsure;  ///< The same; none where an older program made the folder.
};

/// Throws InvalidArgument when the folder holds none, DataFormatError when they are damaged.
LoadedSegments load_segments(const SegmentFolder& folder);

/// Which data they are of, for functions that take a run's record.
RunRecord dataset_record(const LoadedSegments& segments);

/// Everything in the file they were made from, with labels of steps. Throws as load_dataset, and
/// InvalidArgument when they do not fit the episodes.
LabelledDataset load_labelled_dataset(const LoadedSegments& segments, const std::string& moved_to,
                                      const std::string& flag);

/// The dataset of segments, read as it was for them, where it was or at `moved_to`. Throws as
/// load_dataset in run.h.
Trajectories load_segmented_data(const LoadedSegments& loaded, const std::string& moved_to);

}  // namespace kindred
