#include "kindred/segments/components.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "kindred/data/select.h"
#include "kindred/methods/policy_search/evidence/feature_evidence.h"
#include "kindred/methods/policy_search/evidence/table_evidence.h"
#include "kindred/methods/policy_search/partitions/descents.h"

namespace kindred {
namespace {

constexpr std::int64_t kWindowStarts = 8;
constexpr std::int64_t kSpareWindows = 3;  // clusters more than wanted, to begin with
constexpr std::size_t kTriedStarts = 2;    // for each number of clusters, with richer features

struct Best {
  double v = 0.0;
  std::vector<std::int32_t> labels;  // [windows]
};

std::map<std::int64_t, Best> best_partitions(const Trajectories& windows,
                                             const policy_search::SearchOptions& options,
                                             const RunContext& run) {
  const policy_search::SearchContext search{windows, options, run};
  std::shared_ptr<const ActionTargets> targets;
  const auto evidence =
      [&](std::int64_t cosines) -> std::unique_ptr<const policy_search::Evidence> {
    if (options.tables) return std::make_unique<policy_search::TableEvidence>(windows, run);
    return std::make_unique<policy_search::FeatureEvidence>(
        windows, FeatureMap(windows.observations, cosines), targets, options.ridge, run);
  };
  if (!options.tables) targets = std::make_shared<ActionTargets>(windows.actions);
  const auto descents =
      policy_search::descend(search, *evidence(0), options.starts, options.k_max + kSpareWindows);
  const auto richer = evidence(options.cosines);
  std::map<std::int64_t, Best> best;
  for (std::int64_t k = 2; k <= options.k_max; ++k)
    for (const auto start : policy_search::distinct_starts(descents, k, kTriedStarts)) {
      auto fit =
          richer->fit(descents[static_cast<std::size_t>(start)].fits.at(k).labels, options.links);
      const double v = richer->quick_score(fit.labels, fit.k);
      auto& before = best[fit.k];
      if (before.labels.empty() || v > before.v) before = {v, std::move(fit.labels)};
    }
  return best;
}

}  // namespace

Trajectories in_windows(const Trajectories& data, std::int64_t length) {
  auto windows = data;
  windows.labels = windows.oracle = {};
  std::vector<std::int64_t> offsets{0};
  windows.ids.clear();
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto count = std::max<std::int64_t>(1, (data.length(i) + length / 2) / length);
    for (std::int64_t w = 1; w <= count; ++w) {
      offsets.push_back(data.offsets[i] + data.length(i) * w / count);
      windows.ids.push_back(fmt::format("{} {}", data.ids[static_cast<std::size_t>(i)], w));
    }
  }
  windows.offsets = Column<std::int64_t>(std::move(offsets));
  return windows;
}

std::vector<std::vector<std::int32_t>> cluster_windows(const Trajectories& data,
                                                       std::int64_t length, std::int64_t most,
                                                       std::int64_t seed, const RunContext& run) {
  const auto windows = in_windows(data, length);
  const policy_search::SearchOptions options{
      .tables = data.observations.is_interned() && data.actions.is_discrete(),
      .k_max = most,
      .starts = kWindowStarts,
      .seed = seed};
  const auto chosen = policy_search::episodes_to_search(windows, options);
  std::vector<std::vector<std::int32_t>> candidates;
  for (const auto& [k, best] : best_partitions(select_episodes(windows, chosen), options, run)) {
    if (k < 2) continue;
    auto& labels = candidates.emplace_back(static_cast<std::size_t>(data.steps()), -1);
    for (std::size_t i = 0; i < chosen.size(); ++i)
      std::fill(labels.begin() + windows.offsets[chosen[i]],
                labels.begin() + windows.offsets[chosen[i] + 1], best.labels[i]);
  }
  return candidates;
}

}  // namespace kindred
