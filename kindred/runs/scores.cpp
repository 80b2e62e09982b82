#include "kindred/runs/scores.h"

#include <numeric>

namespace kindred {

KnownLabels where_known(std::span<const std::int32_t> found, std::span<const std::int32_t> truth) {
  KnownLabels known;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0) continue;
    known.found.push_back(found[i]);
    known.truth.push_back(truth[i]);
  }
  return known;
}

std::optional<double> oracle_nmi(const Trajectories& data) {
  if (data.oracle.empty() || data.labels.empty()) return std::nullopt;
  const auto known = where_known(data.oracle.span(), data.labels.span());
  return normalized_mutual_information(known.found, known.truth);
}

void add_scores(nlohmann::ordered_json& json, const ClusteringScores& scores) {
  json["nmi"] = scores.nmi;
  json["ari"] = scores.ari;
  json["accuracy"] = scores.accuracy;
  json["purity"] = scores.purity;
  json["homogeneity"] = scores.homogeneity;
  json["completeness"] = scores.completeness;
  json["ami"] = scores.ami;
  json["chance_nmi"] = scores.chance_nmi;
}

ClusteringScores score_run(const LoadedRun& run, const std::filesystem::path& truth,
                           const TruthColumns& columns) {
  Trajectories named;  // the truth is matched to episodes by name; nothing else is needed
  std::vector<std::int64_t> offsets(run.episodes.size() + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  named.offsets = std::move(offsets);
  named.ids = run.episodes;
  const auto known = where_known(run.labels, label_from_csv(named, truth, columns).labels.span());
  return score_clustering(known.found, known.truth);
}

}  // namespace kindred
