#include "kindred/methods/state_file.h"

#include <cmath>
#include <limits>

#include "kindred/core/error.h"

namespace kindred {

using nlohmann::json;

json number_to_json(double x) { return std::isfinite(x) ? json(x) : json(x > 0 ? "inf" : "-inf"); }

double number_from_json(const json& j) {
  if (j.is_number()) return j.get<double>();
  return (j == "inf" ? 1.0 : -1.0) * std::numeric_limits<double>::infinity();
}

json to_json(const std::vector<TraceEntry>& trace) {
  json result = json::array();
  for (const auto& t : trace)
    result.push_back(
        {t.restart, t.iteration, number_to_json(t.objective), t.changed, t.sizes, t.seconds});
  return result;
}

std::vector<TraceEntry> trace_from_json(const json& j) {
  std::vector<TraceEntry> trace;
  for (const auto& t : j)
    trace.push_back({t.at(0), t.at(1), number_from_json(t.at(2)), t.at(3), t.at(4), t.at(5)});
  return trace;
}

json to_json(const std::vector<MergeStep>& merges) {
  json result = json::array();
  for (const auto& m : merges) result.push_back({m.from, m.into, number_to_json(m.objective)});
  return result;
}

std::vector<MergeStep> merges_from_json(const json& j) {
  std::vector<MergeStep> merges;
  for (const auto& m : j) merges.push_back({m.at(0), m.at(1), number_from_json(m.at(2))});
  return merges;
}

void write_options(ArrayFileWriter& file, const nlohmann::ordered_json& options) {
  file.write_text("options", options.dump());
}

void require_same_options(const ArrayFileReader& file, const nlohmann::ordered_json& options,
                          const std::filesystem::path& path) {
  const auto stored = json::parse(file.read_text("options"));
  const json present = options;
  for (const auto& [name, value] : present.items())
    if (!stored.contains(name) || stored[name] != value)
      throw InvalidArgument(
          "cannot resume '{}': it was started with {} = {}, now it is {}; repeat the original "
          "options or start anew without --resume",
          path.string(), name, stored.value(name, json()).dump(), value.dump());
}

void require_same_episodes(std::int64_t stored, const Trajectories& data,
                           const std::filesystem::path& path) {
  if (stored != data.episodes())
    throw InvalidArgument("cannot resume '{}': it labels {} episodes, the data has {}",
                          path.string(), stored, data.episodes());
}

}  // namespace kindred
