// Labels in a LeRobot folder: which files change, and to what. Internal to label_writer.h.
//
//   v3    a column of int64 in meta/episodes, and one in data that meta/info.json declares
//   v2    a key in each line of meta/episodes.jsonl
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kindred/data/label_writer.h"
#include "kindred/data/lerobot_folder.h"
#include "kindred/data/undo.h"

namespace kindred {

/// Whether something that Kindred did not write has the name of the labels. Throws InvalidArgument
/// for names that LeRobot itself needs.
bool has_foreign_labels(const LerobotFolder& folder, const std::string& key);

/// The changes, in the order in which to commit them, so that a kill in between leaves a folder
/// that LeRobot opens: first what says that labels are found ones and declares a column before
/// files have it; then tables from the first on, of which the others may not have more columns.
FileChanges change_lerobot(LerobotFolder folder, const Trajectories& data,
                           const EpisodeLabels& labels, const std::string& key);

}  // namespace kindred
