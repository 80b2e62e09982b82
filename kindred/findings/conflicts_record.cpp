#include "kindred/findings/conflicts_record.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kDrawn = 24;  // trajectories

constexpr std::int64_t kNodes =
    20'000;  // a page does not wait for a search, `kindred conflicts` does
constexpr double kSeconds = 5.0, kWords = 5e9;

}  // namespace

std::optional<ConflictStudy> run_conflicts(const RunData& found) {
  if (!found.data.actions.is_discrete()) return std::nullopt;
  auto study =
      study_conflicts(found.data, {.nodes = kNodes, .seconds = kSeconds}, Workers(), kWords);
  if (study.graph.shared_states == 0) return std::nullopt;
  return study;
}

Json conflicts_inside_json(const RunData& found, const std::optional<ConflictStudy>& study) {
  if (!study) return nullptr;
  return to_json(conflicts_inside(study->graph, found.run.labels, Workers()));
}

Json conflicts_json(const RunData& found, const std::optional<ConflictStudy>& study) {
  if (!study) return nullptr;
  auto json = to_json(*study, found.data);
  json["inside"] = conflicts_inside_json(found, study);
  const auto sample = sample_conflicts(*study, found.run.labels, kDrawn);
  json["drawn"] = {{"episodes", sample.episodes}, {"edges", sample.edges}};
  return json;
}

}  // namespace kindred::findings
