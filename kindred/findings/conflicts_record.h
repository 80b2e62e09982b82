// What conflicts between trajectories say about a run's clusters, for a page.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "kindred/conflicts/study.h"
#include "kindred/findings/column.h"
#include "kindred/findings/run_data.h"

namespace kindred::findings {

/// The conflicts of a run's data; nothing where actions are continuous, or where no two
/// trajectories visit one same state, so that they could never conflict.
std::optional<ConflictStudy> run_conflicts(const RunData& found);

/// What `kindred conflicts` finds, conflicts within each cluster, and some trajectories with the
/// conflicts between them, to be drawn. Null without a study.
Json conflicts_json(const RunData& found, const std::optional<ConflictStudy>& study);

/// Conflicts within the clusters alone: what another answer of the run has of its own.
Json conflicts_inside_json(const RunData& found, const std::optional<ConflictStudy>& study);

}  // namespace kindred::findings
