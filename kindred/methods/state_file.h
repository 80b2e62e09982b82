// What the saved states of all methods have in common: the trace so far, and the options they
// belong to.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "kindred/methods/clustering.h"

namespace kindred {

/// JSON has no infinities; an impossible trajectory makes an objective infinite.
nlohmann::json number_to_json(double x);
double number_from_json(const nlohmann::json& j);

nlohmann::json to_json(const std::vector<TraceEntry>& trace);
std::vector<TraceEntry> trace_from_json(const nlohmann::json& j);
nlohmann::json to_json(const std::vector<MergeStep>& merges);
std::vector<MergeStep> merges_from_json(const nlohmann::json& j);

/// Stores `options` (complete, as JSON) in a state file.
void write_options(ArrayFileWriter& file, const nlohmann::ordered_json& options);
/// Throws InvalidArgument, naming the option, when the file was written with other options.
void require_same_options(const ArrayFileReader& file, const nlohmann::ordered_json& options,
                          const std::filesystem::path& path);
/// Throws InvalidArgument when a state of `stored` episodes cannot belong to `data`.
void require_same_episodes(std::int64_t stored, const Trajectories& data,
                           const std::filesystem::path& path);

}  // namespace kindred
