#include "kindred/methods/policy_search/evidence/exact_fits.h"

#include <algorithm>
#include <functional>

#include "kindred/clustering/clustering.h"

namespace kindred::policy_search {
namespace {

/// The sums that each cluster's policy is fitted to: [k, layout.size()].
std::vector<double> pooled_cluster_sums(const EpisodeStatistics& statistics,
                                        std::span<const std::int32_t> labels, std::int64_t k) {
  auto sums = statistics.cluster_sums(labels, k);
  const auto& pooled = statistics.pooled();
  if (!pooled.empty())
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += pooled[i % pooled.size()];
  return sums;
}

/// The pairs of clusters that lose least when the episodes of either go to the other as its policy
/// stands, at most `most`: what joining two really costs takes solving another policy.
std::vector<ClusterPair> pairs_by_cost(const EpisodeStatistics& statistics,
                                       std::span<const std::int32_t> labels, std::int64_t k,
                                       double ridge, std::size_t most) {
  std::vector<ClusterPair> pairs;
  for (std::int32_t a = 0; a < k; ++a)
    for (std::int32_t b = a + 1; b < k; ++b) pairs.emplace_back(a, b);
  if (pairs.size() <= most) return pairs;
  const auto policies = solve_policies(statistics, labels, k, ridge);
  const auto costs = statistics.episode_costs(policies.weights, k, policies.noise);
  Matrix loss(k, k);
  for (std::int64_t i = 0; i < costs.rows; ++i) {
    const auto own = labels[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < k; ++j) loss(own, j) += costs(i, j) - costs(i, own);
  }
  const auto least = [&](const ClusterPair& pair) {
    return std::min(loss(pair.first, pair.second), loss(pair.second, pair.first));
  };
  std::ranges::stable_sort(pairs, {}, least);
  pairs.resize(most);
  return pairs;
}

}  // namespace

ExactPolicies solve_policies(const EpisodeStatistics& statistics,
                             std::span<const std::int32_t> labels, std::int64_t k, double ridge) {
  return solve_policies(statistics.layout(), pooled_cluster_sums(statistics, labels, k), k, ridge);
}

ExactFit fit_exact(const EpisodeStatistics& statistics, std::vector<std::int32_t> labels,
                   double ridge, const Links& links, std::int64_t most_rounds) {
  ExactFit fit;
  fit.labels = consecutive_labels(std::move(labels));
  while (!fit.converged && std::ssize(fit.rounds) < most_rounds) {
    fit.k = 1 + *std::ranges::max_element(fit.labels);
    const auto solution = solve_policies(statistics, fit.labels, fit.k, ridge);
    auto& round = fit.rounds.emplace_back();
    round.objective = solution.objective;
    round.sizes.resize(static_cast<std::size_t>(fit.k));
    for (const auto label : fit.labels) ++round.sizes[static_cast<std::size_t>(label)];

    const auto costs = statistics.episode_costs(solution.weights, fit.k, solution.noise);
    round.changed = links.assign(costs, fit.labels);
    fit.converged = round.changed == 0;
    fit.labels = consecutive_labels(std::move(fit.labels));
  }
  fit.k = 1 + *std::ranges::max_element(fit.labels);  // the last round may have emptied a cluster
  return fit;
}

ExactFit fit_down_to(std::int64_t k, const EpisodeStatistics& statistics,
                     std::vector<std::int32_t> labels, double ridge, const Links& links,
                     std::int64_t most_rounds) {
  for (;;) {
    auto fit = fit_exact(statistics, std::move(labels), ridge, links, most_rounds);
    if (fit.k <= k) return fit;
    labels = std::move(fit.labels);
    join_closest(closest_pairs(statistics, labels, fit.k, ridge, pairs_to_try(links, fit.k)), links,
                 labels);
  }
}

std::vector<ClusterPair> closest_pairs(const EpisodeStatistics& statistics,
                                       std::span<const std::int32_t> labels, std::int64_t k,
                                       double ridge, std::size_t most, Joins joins) {
  const auto& layout = statistics.layout();
  const auto size = static_cast<std::size_t>(layout.size());
  const auto targets = static_cast<std::size_t>(layout.targets);
  const auto clusters = static_cast<std::size_t>(k);
  const auto sums = pooled_cluster_sums(statistics, labels, k);
  const auto& pooled = statistics.pooled();
  const auto missed = [&](std::span<const double> of) {
    return fitted_error(layout, of, solve_policy(layout, of, ridge));
  };
  std::vector<std::vector<double>> alone;
  std::vector<double> total(targets, 0.0);
  for (std::size_t j = 0; j < clusters; ++j) {
    alone.push_back(missed(std::span(sums).subspan(j * size, size)));
    for (std::size_t d = 0; d < targets; ++d) total[d] += alone.back()[d];
  }
  struct Joining {
    double objective;
    ClusterPair pair;
  };
  std::vector<Joining> joinings;
  const auto all = static_cast<std::size_t>(k * (k - 1) / 2);
  const auto pairs_to_solve =
      pairs_by_cost(statistics, labels, k, ridge,
                    joins == Joins::kAll ? all : std::max(most, static_cast<std::size_t>(2 * k)));
  std::vector<double> joined(size), errors(targets), noise;
  for (const auto& pair : pairs_to_solve) {
    const auto a = static_cast<std::size_t>(pair.first), b = static_cast<std::size_t>(pair.second);
    for (std::size_t p = 0; p < size; ++p) joined[p] = sums[a * size + p] + sums[b * size + p];
    for (std::size_t p = 0; p < pooled.size(); ++p) joined[p] -= pooled[p];  // it is in both
    const auto together = missed(joined);
    for (std::size_t d = 0; d < targets; ++d)
      errors[d] = total[d] + together[d] - alone[a][d] - alone[b][d];
    joinings.push_back({objective_of(errors, statistics.total_steps(), noise),
                        {static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)}});
  }
  std::ranges::stable_sort(joinings, std::greater<>(), &Joining::objective);
  std::vector<ClusterPair> pairs;
  for (std::size_t i = 0; i < std::min(most, joinings.size()); ++i)
    pairs.push_back(joinings[i].pair);
  return pairs;
}

}  // namespace kindred::policy_search
