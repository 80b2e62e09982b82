#include "kindred/runs/scores.h"

#include <numeric>

#include "kindred/data/truth.h"

namespace kindred {

std::optional<double> oracle_nmi(const Trajectories& data) {
  if (data.oracle.empty() || data.labels.empty()) return std::nullopt;
  return normalized_mutual_information(data.oracle.span(), data.labels.span());
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

ClusteringScores score_run(const LoadedRun& run, const std::filesystem::path& truth) {
  Trajectories named;  // the truth is matched to episodes by name; nothing else is needed
  std::vector<std::int64_t> offsets(run.episodes.size() + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  named.offsets = std::move(offsets);
  named.ids = run.episodes;
  return score_clustering(run.labels, label_from_csv(named, truth).labels.span());
}

}  // namespace kindred
