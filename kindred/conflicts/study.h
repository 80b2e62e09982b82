// Everything that conflicts say of a dataset: the graph, its edges counted, the least number of
// policies, and that as a record for programs and pages.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kindred/conflicts/conflict_graph.h"
#include "kindred/conflicts/conflict_rows.h"
#include "kindred/conflicts/least_policies.h"
#include "kindred/conflicts/proofs.h"

namespace kindred {

struct ConflictStudy {
  ConflictGraph graph;
  ConflictCount count;
  LeastPolicies least;

  /// Trajectories that are divided alike by everybody who divides into the least number.
  std::int64_t forced() const;
  /// The first trajectory of each behaviour of the clique.
  std::vector<std::int64_t> clique_episodes() const;
};

/// Conflicts are counted as count_conflicts does. Throws InvalidArgument when actions are not
/// discrete, Interrupted when asked to stop.
ConflictStudy study_conflicts(const Trajectories& data, const SearchLimits& limits,
                              const Workers& workers, double most_words = kMostWords);

/// What was found in a sentence. It holds for deterministic policies, and says so.
std::string conclusion_of(const ConflictStudy& study);

nlohmann::ordered_json to_json(const ConflictStudy& study, const Trajectories& data);
nlohmann::ordered_json to_json(const std::vector<ClusterConflicts>& clusters);
nlohmann::ordered_json to_json(const Disagreement& found, const Trajectories& data);

/// Some trajectories and the conflicts between them, few enough to draw: the clique first, then as
/// many of each group as of another.
struct ConflictSample {
  std::vector<std::int64_t> episodes;
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  ///< Positions in `episodes`.
};
ConflictSample sample_conflicts(const ConflictStudy& study, std::span<const std::int32_t> groups,
                                std::int64_t count);

}  // namespace kindred
