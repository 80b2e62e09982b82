// What a run's labels are worth against known ones.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "kindred/data/trajectories.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/runs/run.h"

namespace kindred {

/// NMI between the true labels and those that the true policies' likelihoods give; nothing when
/// either is unknown.
std::optional<double> oracle_nmi(const Trajectories& data);

/// Adds nmi, ari, accuracy, purity, homogeneity, completeness, ami and chance_nmi.
void add_scores(nlohmann::ordered_json& json, const ClusteringScores& scores);

/// The scores of a run against a CSV file of true labels. Throws as label_from_csv.
ClusteringScores score_run(const LoadedRun& run, const std::filesystem::path& truth);

}  // namespace kindred
