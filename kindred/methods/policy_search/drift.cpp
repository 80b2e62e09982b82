#include "kindred/methods/policy_search/drift.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kindred::policy_search {
namespace {

constexpr std::size_t kFewest = 5;  // episodes that can be said to be in an order

using Members = std::vector<std::int64_t>;  // of a cluster, in order

/// Clusters by where their middle is.
std::vector<Members> in_order(std::span<const std::int32_t> labels, std::int64_t k) {
  std::vector<Members> clusters(static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < labels.size(); ++i)
    clusters[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::int64_t>(i));
  std::ranges::stable_sort(clusters, {},
                           [](const Members& members) { return members[members.size() / 2]; });
  return clusters;
}

/// Kruskal's and Wallis's H, which varies as χ² of k - 1 degrees where the order tells nothing.
double follows_order(const std::vector<Members>& clusters, double n) {
  double sum = 0.0;
  for (const auto& members : clusters) {
    double ranks = 0.0;
    for (const auto i : members) ranks += static_cast<double>(i + 1);
    sum += ranks * ranks / static_cast<double>(members.size());
  }
  return 12.0 / (n * (n + 1.0)) * sum - 3.0 * (n + 1.0);
}

/// Of a normal variable as likely as χ² of so many degrees (Fisher 1922).
double as_errors(double chi_square, double freedom) {
  return std::sqrt(2.0 * std::max(0.0, chi_square)) - std::sqrt(2.0 * freedom - 1.0);
}

/// How much values rise, in standard errors: Spearman's correlation with their order.
double rise(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  double squares = 0.0;
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    squares += std::pow(static_cast<double>(rank) - static_cast<double>(order[rank]), 2);
  return (1.0 - 6.0 * squares / (n * (n * n - 1.0))) * std::sqrt(n - 1.0);
}

/// The first episode of the later cluster, where as few as possible are on the wrong side.
std::int64_t change_between(const Members& earlier, const Members& later) {
  std::int64_t best = 0, change = later.front();
  for (auto member = later.begin(); member != later.end(); ++member) {
    const auto right =
        std::ranges::lower_bound(earlier, *member) - earlier.begin() + (later.end() - member);
    if (right <= best) continue;
    best = right;
    change = *member;
  }
  return change;
}

}  // namespace

Drift look_for_drift(std::span<const std::int32_t> labels, const Matrix& costs) {
  Drift drift;
  const auto k = costs.columns;
  if (k < 2) return drift;
  const auto clusters = in_order(labels, k);
  drift.z = as_errors(follows_order(clusters, static_cast<double>(labels.size())),
                      static_cast<double>(k - 1));
  double sum = 0.0, count = 0.0;
  const auto add = [&](const Members& members, const Members& others, double sign) {
    if (members.size() < kFewest) return;
    const auto own = labels[static_cast<std::size_t>(members.front())],
               other = labels[static_cast<std::size_t>(others.front())];
    std::vector<double> more;
    for (const auto i : members) more.push_back(costs(i, own) - costs(i, other));
    sum += sign * rise(more);
    ++count;
  };
  for (std::size_t j = 0; j + 1 < clusters.size(); ++j) {
    add(clusters[j], clusters[j + 1], 1.0);
    add(clusters[j + 1], clusters[j], -1.0);
    drift.changes.push_back(change_between(clusters[j], clusters[j + 1]));
  }
  if (count > 0.0) drift.z_within = sum / std::sqrt(count);
  return drift;
}

std::string in_words(const Drift& drift, std::span<const std::string> ids) {
  std::vector<std::string> names;
  for (const auto change : drift.changes) names.push_back(ids[static_cast<std::size_t>(change)]);
  return fmt::format(
      "policies change all along the recording, as one that drifts does; most about episode {}",
      fmt::join(names, ", "));
}

}  // namespace kindred::policy_search
