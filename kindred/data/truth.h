// Which policy made each episode, where something outside the data says so; and the labels file.
//
// The label_… functions return the data with `labels` and `label_names` set, and say in
// `provenance["truth"]` where the labels came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kindred/data/trajectories.h"

namespace kindred {

/// Which columns of a CSV file name the episodes and their policies.
struct TruthColumns {
  std::string episode = "episode";
  std::string label = "label";
};

/// Labels from a CSV file, of which other columns are ignored. `episode` holds the ids of the
/// episodes (when every row does), or else their numbers from 0; `label` holds whole numbers from
/// 0, or names. Rows come in any order; episodes without one are unknown, which is -1. Throws
/// IoError, or DataFormatError with the line.
Trajectories label_from_csv(const Trajectories& data, const std::filesystem::path& path,
                            const TruthColumns& columns = {});

/// The file was put together from parts: episodes that start before the step boundaries[0] are
/// labelled 0, those from there to before boundaries[1] are 1, and so on. Throws InvalidArgument
/// when boundaries do not increase or a part holds no episode.
Trajectories label_by_boundaries(const Trajectories& data,
                                 std::span<const std::int64_t> boundaries);

/// The paper's ground truth for a file of two parts: the split of the episodes, in their order,
/// with the largest difference between the mean returns before (0) and after it (1). Each part
/// holds at least `min_share` of the episodes, and at least one, so that a single outlier at
/// either end is not a part. Throws InvalidArgument without rewards or with fewer than 2 episodes.
Trajectories label_by_return_change(const Trajectories& data, double min_share = 0.1);

/// What is known of some episodes: a label, or that two of them belong together or do not.
struct KnownEpisodes {
  std::vector<std::int32_t> labels;  ///< [episodes]; -1: unknown. Empty where no label is known.
  std::vector<std::pair<std::int64_t, std::int64_t>> together, apart;
};

/// Reads a CSV file with the columns `episode` and `label`, as label_from_csv does but for some of
/// the episodes; or with the columns `episode`, `other` and `link`, which is 'together' or 'apart'.
/// Episodes with one label belong together, others apart. Throws IoError, or DataFormatError with
/// the line.
KnownEpisodes read_seeds(const Trajectories& data, const std::filesystem::path& path);

/// The labels that occur, unknown ones (-1) apart, in increasing order, and how many episodes have
/// each. Labels are names as much as numbers: two of them may be 0 and 2,000,000,000.
struct LabelCounts {
  std::vector<std::int32_t> values;
  std::vector<std::int64_t> sizes;  ///< As many as `values`.

  /// Whether the labels are 0, 1, … without a gap.
  bool consecutive() const;
};
LabelCounts count_labels(std::span<const std::int32_t> labels);

/// Labels as a file holds them.
struct LabelsFile {
  std::vector<std::string> episodes;     ///< [rows]: an id or a number, as written.
  std::vector<std::int32_t> labels;      ///< [rows]
  std::vector<std::string> label_names;  ///< Sorted, label i being the i-th; empty: numbers.
  std::vector<double> margins;           ///< [rows], or empty: how sure each label is.
};

/// Writes the columns episode, label and, unless `margins` is empty, margin. Throws InvalidArgument
/// when the lengths differ, IoError when the file cannot be written.
void write_labels_csv(const std::filesystem::path& path, std::span<const std::string> episodes,
                      std::span<const std::int32_t> labels, std::span<const double> margins = {});

/// Reads what write_labels_csv wrote, or any file that label_from_csv takes.
LabelsFile read_labels_csv(const std::filesystem::path& path);

}  // namespace kindred
