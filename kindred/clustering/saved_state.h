// What the saved states of methods have in common: the trace and merges as JSON, and the options
// that must be the same when a run is resumed.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/data/array_file.h"

namespace kindred {

// JSON has no infinities; an impossible trajectory makes an objective infinite.
nlohmann::json saved_number(double x);
double restored_number(const nlohmann::json& saved);

nlohmann::json saved_trace(const std::vector<TraceEntry>& trace);
std::vector<TraceEntry> restored_trace(const nlohmann::json& saved);

nlohmann::json saved_merges(const std::vector<MergeStep>& merges);
std::vector<MergeStep> restored_merges(const nlohmann::json& saved);

void save_options(const nlohmann::json& options, ArrayFileWriter& file);
/// Throws InvalidArgument naming the first option that differs from what save_options wrote.
void require_saved_options(const nlohmann::json& options, const ArrayFileReader& file,
                           const std::filesystem::path& path);

/// Throws InvalidArgument when saved labels are not one per episode.
void require_saved_episodes(const std::vector<std::int32_t>& labels, const Trajectories& data,
                            const std::filesystem::path& path);

}  // namespace kindred
