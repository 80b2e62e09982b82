// What a run's labels are worth against known ones.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "kindred/data/trajectories.h"
#include "kindred/data/truth.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/runs/run.h"

namespace kindred {

/// Labels beside the true ones, of the episodes whose true one is known.
struct KnownLabels {
  std::vector<std::int32_t> found, truth;
};
KnownLabels where_known(std::span<const std::int32_t> found, std::span<const std::int32_t> truth);

/// NMI between the true labels and those that the true policies' likelihoods give; nothing when
/// either is unknown.
std::optional<double> oracle_nmi(const Trajectories& data);

/// Adds nmi, ari, accuracy, purity, homogeneity, completeness, ami and chance_nmi.
void add_scores(nlohmann::ordered_json& json, const ClusteringScores& scores);

/// The scores of a run against a CSV file of true labels. Throws as label_from_csv.
ClusteringScores score_run(const LoadedRun& run, const std::filesystem::path& truth,
                           const TruthColumns& columns = {});

}  // namespace kindred
