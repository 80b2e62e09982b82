// Labels written back into the dataset they are of, where the tools of its format look for them.
//
//   D4RL       `infos/<key>`, int32 per step (-1: no label), and a CSV by episode beside the file
//   Minari     the attribute `<key>` of each labelled episode, as Minari's episode metadata; of
//              tables of Arrow or Parquet a key of that name, and a CSV beside the folder
//   robomimic  `mask/policy_0`, `mask/policy_1`, …: demo names, usable as filter keys
//   Kindred    `found/<key>`, int32 per episode (-1: no label); `labels`, the truth, stays
//   LeRobot    `<key>` of each episode in its metadata (-1: no label) and, in v3, of each step
//   NPZ, Parquet, and HDF5 of no format: a CSV by episode beside the file
//
// Labels of steps, which change within episodes, go elsewhere where a format has room for them:
//
//   Minari     `infos/<key>` in each episode's group, int32 per step
//   robomimic  `data/demo_i/<key>`, int32 per step
//   Kindred    `found/<key>_steps`, int32 per step
//   LeRobot    the same places; an episode of several policies has the label -1
//
// and the CSV, which LeRobot v2 then has too, is by stretch: episode, start, end, policy.
//
// The key is `policy_id`; without a final `_id` it names masks and the CSV (`<stem>.policy.csv`).
// Nothing else of the file changes, a kill leaves each file as it was or labelled, and undo_labels
// brings back every byte (see undo.h). A root attribute (LeRobot: meta/info.json, Minari's tables:
// data/metadata.json) says that Kindred found these labels, so that they are never read as the
// truth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/formats.h"
#include "kindred/data/trajectories.h"
#include "kindred/data/truth.h"

namespace kindred {

inline constexpr std::int32_t kNoLabel = -1;

/// Labels of every episode of a dataset, or of every step.
struct EpisodeLabels {
  std::vector<std::int32_t> labels;      ///< [episodes]; kNoLabel where there is none.
  std::vector<double> margins;           ///< [episodes], 0 where there is no label; or empty.
  std::vector<std::int32_t> steps = {};  ///< [steps], kNoLabel where there is none; or empty.
};

/// Labels of steps; an episode has the one that all its steps have.
EpisodeLabels labels_of_steps(std::vector<std::int32_t> steps,
                              std::span<const std::int64_t> offsets);

/// Finds the episodes of `found` in `data` by their ids. Throws InvalidArgument when one is not
/// there or named twice.
EpisodeLabels match_labels(const Trajectories& data, const LabelsFile& found);

struct LabelOptions {
  std::string key = "policy_id";
  bool replace = false;  ///< Also labels that Kindred did not write.
};

/// A file that labels were written to, and as what.
struct LabelledFile {
  std::filesystem::path file;
  std::string what;  ///< For people: "'infos/policy_id'", "a table by episode".
};

/// Writes labels into the dataset at `path`, of which `data` is all that its reader finds. Throws
/// InvalidArgument when others' labels are in that place.
std::vector<LabelledFile> write_labels(const std::filesystem::path& path, Format format,
                                       const Trajectories& data, const EpisodeLabels& labels,
                                       const LabelOptions& options = {});

/// Brings the dataset back to what it was before the first write_labels and returns the files that
/// changed. Throws InvalidArgument when there is nothing to undo or a file was changed since.
std::vector<std::filesystem::path> undo_labels(const std::filesystem::path& path, Format format);

}  // namespace kindred
