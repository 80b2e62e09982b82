#include "kindred/methods/policy_search/partitions/ward.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "kindred/methods/policy_search/conflicts/feature_metric.h"
#include "kindred/methods/policy_search/evidence/exact_fits.h"

namespace kindred::policy_search {
namespace {

/// The policy of every episode alone, beginning from that of all, as a point: the squared distance
/// of two is by how much their actions differ on average over all states. [episodes, numbers]
Matrix policies_of_episodes(const FeatureEvidence& evidence) {
  const auto& statistics = evidence.statistics();
  const auto& layout = statistics.layout();
  const auto features = layout.features, targets = layout.targets;
  const auto& usual = statistics.pooled();  // the mean of φφᵀ, times the steps that are pooled
  const double steps = std::max(1.0, statistics.pooled_steps());
  std::vector<double> factor(static_cast<std::size_t>(features * features), 0.0);
  for (std::int64_t i = 0, n = 0; i < features; ++i)
    for (std::int64_t j = 0; j <= i; ++j, ++n)
      factor[static_cast<std::size_t>(i * features + j)] =
          usual[static_cast<std::size_t>(n)] / steps + (i == j ? 1e-9 : 0.0);
  factor = lower_factor(features, std::move(factor));
  Matrix points(evidence.episodes(), features * targets);
  statistics.workers().chunks(evidence.episodes(), 8, [&](std::int64_t begin, std::int64_t end) {
    for (auto e = begin; e < end; ++e) {
      std::vector<std::int32_t> only(static_cast<std::size_t>(evidence.episodes()), -1);
      only[static_cast<std::size_t>(e)] = 0;
      auto sums = statistics.cluster_sums(only, 1);
      for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += usual[p];
      const auto policy = solve_policy(layout, sums, evidence.ridge());
      for (std::int64_t d = 0; d < targets; ++d)
        for (std::int64_t j = 0; j < features; ++j)
          for (auto i = j; i < features; ++i)
            points(e, j * targets + d) += factor[static_cast<std::size_t>(i * features + j)] *
                                          policy[static_cast<std::size_t>(i * targets + d)];
    }
  });
  return points;
}

/// Ward's agglomeration of points, [points, numbers]: which cluster joins which, the closest first;
/// clusters are called after their first point. By chains of nearest neighbours.
std::vector<std::pair<std::int32_t, std::int32_t>> ward_joins(const Matrix& points) {
  const auto n = points.rows;
  Matrix centres = points;
  std::vector<double> sizes(static_cast<std::size_t>(n), 1.0);
  std::vector<std::uint8_t> alive(static_cast<std::size_t>(n), 1);
  const auto size = [&](std::int64_t i) -> double& { return sizes[static_cast<std::size_t>(i)]; };
  const auto cost = [&](std::int64_t a, std::int64_t b) {
    double sum = 0.0;
    const auto one = centres.row(a), other = centres.row(b);
    for (std::size_t c = 0; c < one.size(); ++c) sum += (one[c] - other[c]) * (one[c] - other[c]);
    return sum * size(a) * size(b) / (size(a) + size(b));
  };
  struct Join {
    double cost;
    std::int32_t into, from;
  };
  std::vector<Join> joins;
  std::vector<std::int64_t> chain;
  while (std::ssize(joins) < n - 1) {
    if (chain.empty()) chain.push_back(std::ranges::find(alive, 1) - alive.begin());
    for (;;) {
      const auto last = chain.back();
      const auto before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
      auto nearest = before;
      double least = before >= 0 ? cost(last, before) : std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < n; ++i) {
        if (!alive[static_cast<std::size_t>(i)] || i == last || i == before) continue;
        const double c = cost(last, i);
        if (c >= least) continue;
        least = c;
        nearest = i;
      }
      if (nearest != before) {
        chain.push_back(nearest);
        continue;
      }
      chain.resize(chain.size() - 2);
      const auto into = std::min(last, before), from = std::max(last, before);
      joins.push_back({least, static_cast<std::int32_t>(into), static_cast<std::int32_t>(from)});
      for (std::int64_t c = 0; c < centres.columns; ++c)
        centres(into, c) = (centres(into, c) * size(into) + centres(from, c) * size(from)) /
                           (size(into) + size(from));
      size(into) += size(from);
      alive[static_cast<std::size_t>(from)] = 0;
      break;
    }
  }
  std::ranges::stable_sort(joins, {}, &Join::cost);
  std::vector<std::pair<std::int32_t, std::int32_t>> result;
  for (const auto& join : joins) result.emplace_back(join.into, join.from);
  return result;
}

}  // namespace

Descent descend_by_ward(const SearchContext& search, const FeatureEvidence& evidence,
                        std::int64_t most) {
  const auto joins = ward_joins(policies_of_episodes(evidence));
  const auto episodes = evidence.episodes();
  std::vector<std::int32_t> labels(static_cast<std::size_t>(episodes));
  std::iota(labels.begin(), labels.end(), 0);
  std::map<std::int64_t, std::vector<std::int32_t>> partitions;
  for (std::size_t join = 0; join < joins.size(); ++join) {
    std::ranges::replace(labels, joins[join].second, joins[join].first);
    const auto k = episodes - 1 - static_cast<std::int64_t>(join);
    if (k <= most) partitions[k] = consecutive_labels(labels);
  }
  if (episodes == 1) partitions[1] = {0};
  std::vector<ExactFit> fits(partitions.size());
  std::vector<const std::vector<std::int32_t>*> starts;
  for (const auto& [k, partition] : partitions) starts.push_back(&partition);
  std::vector<double> v(fits.size());
  search.run.chunks(std::ssize(fits), 1, [&](std::int64_t i, std::int64_t) {
    const auto at = static_cast<std::size_t>(i);
    auto start = *starts[at];
    const auto k = 1 + *std::ranges::max_element(start);
    search.links_for(k).enforce(start, k);
    fits[at] = evidence.fit(std::move(start), search.links_for(k));
    v[at] = evidence.quick_score(fits[at].labels, fits[at].k);
  });
  Descent result;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    const auto k = fits[i].k;
    if (result.v.contains(k) && result.v[k] >= v[i]) continue;
    result.v[k] = v[i];
    result.fits[k] = std::move(fits[i]);
  }
  return result;
}

}  // namespace kindred::policy_search
