// What was found about conflicts, on disk. The folder holds
//   colouring.csv       episode, label (its policy in a division without conflicts) and place:
//                       forced, free, or untouched where no conflict touches it; without
//                       trajectories that contradict themselves
//   pairs.csv           pairs that conflict, each with the steps and actions that prove it
//   contradictions.csv  the same of trajectories that contradict themselves
//   graph.svg           some of the graph, drawn
//   conflicts.json      the record
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "kindred/conflicts/study.h"

namespace kindred {

/// Throws InvalidArgument when the folder holds other things, or conflicts that are not to be
/// replaced.
void require_free_for_conflicts(const std::filesystem::path& folder, bool force);

/// Writes the folder, whole or not at all. `groups` colours the picture.
void write_conflicts(const std::filesystem::path& folder, const Trajectories& data,
                     const ConflictStudy& study, std::span<const Disagreement> pairs,
                     std::span<const std::int32_t> groups, const nlohmann::ordered_json& record);

}  // namespace kindred
