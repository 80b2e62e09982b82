#include "kindred/policies/exact_policies.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kindred/clustering/clustering.h"
#include "kindred/nn/cholesky.h"
#include "kindred/nn/gemm.h"

namespace kindred {
namespace {

/// Of Σφφᵀ + ridge·I, with right sides [features, targets].
CholeskyFactor factor(const StatisticsLayout& layout, std::span<const double> sums, double ridge,
                      std::span<const double> right) {
  return {layout.features, sums, ridge, layout.targets, right};
}

/// Σφφᵀ · policy: [features, targets].
std::vector<double> predicted_cross(const StatisticsLayout& layout, std::span<const double> sums,
                                    std::span<const double> policy) {
  const auto features = layout.features, targets = layout.targets;
  const auto width = padded(targets, kDoubleLane), stride = std::max(features, width);
  std::vector<double> whole(static_cast<std::size_t>(features * stride));
  const double* gram = sums.data();
  for (std::int64_t m = 0; m < features; ++m)
    for (std::int64_t l = 0; l <= m; ++l, ++gram)
      whole[static_cast<std::size_t>(m * stride + l)] =
          whole[static_cast<std::size_t>(l * stride + m)] = *gram;
  std::vector<double> weights(static_cast<std::size_t>(features * width), 0.0),
      products(whole.size());
  for (std::int64_t m = 0; m < features; ++m)
    std::copy_n(policy.data() + m * targets, targets, weights.data() + m * width);
  const std::vector<double> nothing(static_cast<std::size_t>(width), 0.0);
  project(features, features, width, stride, whole.data(), weights.data(), nothing.data(),
          products.data());
  std::vector<double> result;
  for (std::int64_t m = 0; m < features; ++m)
    result.insert(result.end(), products.begin() + m * stride,
                  products.begin() + m * stride + targets);
  return result;
}

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

/// J, where `errors` ([targets]) are summed over all clusters, and the noise that maximises it.
double objective_of(std::span<const double> errors, double steps, std::vector<double>& noise) {
  double objective = 0.0;
  noise.clear();
  for (const double error : errors) {
    noise.push_back(std::max(kLeastNoise, error / steps));
    objective -= 0.5 * (steps * std::log(noise.back()) + error / noise.back());
  }
  return objective;
}

}  // namespace

std::vector<double> solve_policy(const StatisticsLayout& layout, std::span<const double> sums,
                                 double ridge) {
  return factor(layout, sums, ridge, sums.subspan(static_cast<std::size_t>(layout.cross())))
      .solution();
}

std::vector<double> fitted_error(const StatisticsLayout& layout, std::span<const double> sums,
                                 std::span<const double> weights) {
  const auto targets = static_cast<std::size_t>(layout.targets);
  std::vector<double> errors(sums.begin() + layout.squares(), sums.begin() + layout.steps());
  const auto cross = sums.subspan(static_cast<std::size_t>(layout.cross()));
  for (std::size_t i = 0; i < weights.size(); ++i) errors[i % targets] -= weights[i] * cross[i];
  for (auto& error : errors) error = std::max(error, 0.0);
  return errors;
}

double OwnPart::ratio(std::span<const double> noise) const {
  double sum = 0.0;
  for (std::size_t d = 0; d < noise.size(); ++d) sum += explained[d] / noise[d];
  return sum / (static_cast<double>(noise.size()) * parameters);
}

double OwnPart::surprise(std::span<const double> noise) const {
  // χ² of n degrees over n: its logarithm has a deviation of about √(2/n), and a tail that long
  // episodes with a small error everywhere do not stretch.
  constexpr double kLeastRatio = 1e-9;
  return std::log(std::max(kLeastRatio, ratio(noise))) *
         std::sqrt(0.5 * static_cast<double>(noise.size()) * parameters);
}

OwnPart least_surprising_quarter(std::vector<OwnPart> pieces, std::span<const double> noise) {
  const auto quarter = pieces.begin() + std::ssize(pieces) / 4;
  std::ranges::nth_element(pieces, quarter, {},
                           [&](const OwnPart& piece) { return piece.surprise(noise); });
  return *quarter;
}

OwnPart own_part(const StatisticsLayout& layout, std::span<const double> sums,
                 std::span<const double> policy, double ridge) {
  // What the policy misses, seen through the features: Σφ(a - policy)ᵀ.
  const auto predicted = predicted_cross(layout, sums, policy);
  std::vector<double> missed(sums.begin() + layout.cross(), sums.begin() + layout.squares());
  for (std::size_t i = 0; i < missed.size(); ++i) missed[i] -= predicted[i];
  const auto solved = factor(layout, sums, ridge, missed);
  return {.explained = solved.forms(),
          .parameters = static_cast<double>(layout.features) - ridge * solved.inverse_trace()};
}

ExactPolicies solve_policies(const StatisticsLayout& layout, std::span<const double> sums,
                             std::int64_t k, double ridge) {
  const auto size = static_cast<std::size_t>(layout.size());
  const auto targets = static_cast<std::size_t>(layout.targets);
  const auto columns = static_cast<std::size_t>(k) * targets;
  ExactPolicies result;
  result.weights.resize(static_cast<std::size_t>(layout.features) * columns);
  std::vector<double> errors(targets, 0.0);
  double steps = 0.0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
    const auto own = sums.subspan(j * size, size);
    const auto weights = solve_policy(layout, own, ridge);
    const auto missed = fitted_error(layout, own, weights);
    for (std::size_t d = 0; d < targets; ++d) errors[d] += missed[d];
    for (std::size_t m = 0; m < static_cast<std::size_t>(layout.features); ++m)
      std::copy_n(weights.data() + m * targets, targets,
                  result.weights.data() + m * columns + j * targets);
    steps += own.back();
  }
  result.objective = objective_of(errors, steps, result.noise);
  return result;
}

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

}  // namespace kindred
