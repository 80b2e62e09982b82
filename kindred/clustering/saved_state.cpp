#include "kindred/clustering/saved_state.h"

#include <cmath>
#include <limits>

#include "kindred/core/error.h"

namespace kindred {

using nlohmann::json;

json saved_number(double x) { return std::isfinite(x) ? json(x) : json(x > 0 ? "inf" : "-inf"); }

double restored_number(const json& saved) {
  if (saved.is_number()) return saved.get<double>();
  return (saved == "inf" ? 1.0 : -1.0) * std::numeric_limits<double>::infinity();
}

json saved_trace(const std::vector<TraceEntry>& trace) {
  json saved = json::array();
  for (const auto& t : trace)
    saved.push_back(
        {t.restart, t.iteration, saved_number(t.objective), t.changed, t.sizes, t.seconds});
  return saved;
}

std::vector<TraceEntry> restored_trace(const json& saved) {
  std::vector<TraceEntry> trace;
  for (const auto& j : saved)
    trace.push_back({j.at(0), j.at(1), restored_number(j.at(2)), j.at(3), j.at(4), j.at(5)});
  return trace;
}

json saved_merges(const std::vector<MergeStep>& merges) {
  json saved = json::array();
  for (const auto& m : merges) saved.push_back({m.from, m.into, saved_number(m.objective)});
  return saved;
}

std::vector<MergeStep> restored_merges(const json& saved) {
  std::vector<MergeStep> merges;
  for (const auto& j : saved) merges.push_back({j.at(0), j.at(1), restored_number(j.at(2))});
  return merges;
}

void save_options(const json& options, ArrayFileWriter& file) {
  file.write_text("options", options.dump());
}

void require_saved_options(const json& options, const ArrayFileReader& file,
                           const std::filesystem::path& path) {
  const auto saved = json::parse(file.read_text("options"));
  for (const auto& [name, value] : options.items())
    if (!saved.contains(name) || saved[name] != value)
      throw InvalidArgument(
          "cannot resume '{}': it was started with {} = {}, now it is {}; repeat the original "
          "options or start anew without --resume",
          path.string(), name, saved.value(name, json()).dump(), value.dump());
}

void require_saved_episodes(const std::vector<std::int32_t>& labels, const Trajectories& data,
                            const std::filesystem::path& path) {
  if (static_cast<std::int64_t>(labels.size()) != data.episodes())
    throw InvalidArgument("cannot resume '{}': it labels {} episodes, the data has {}",
                          path.string(), labels.size(), data.episodes());
}

}  // namespace kindred
