#include "kindred/metrics/clustering_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/metrics/matching.h"

namespace kindred {
namespace {

/// How often each pair (cluster, true label) occurs; pairs that never occur are not stored.
struct ContingencyTable {
  std::int64_t items = 0;
  std::vector<std::int64_t> cluster_sizes;
  std::vector<std::int64_t> class_sizes;
  std::vector<MatchingEntry> cells;  // sorted; row: cluster, column: true label
};

/// Numbers the labels 0, 1, … in increasing order; returns the number of each item's label.
std::vector<std::int32_t> compact(Labels labels, std::vector<std::int64_t>& sizes) {
  std::vector<std::int32_t> distinct(labels.begin(), labels.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  sizes.assign(distinct.size(), 0);
  std::vector<std::int32_t> numbers(labels.size());
  std::ranges::transform(labels, numbers.begin(), [&](std::int32_t label) {
    const auto number = std::ranges::lower_bound(distinct, label) - distinct.begin();
    ++sizes[static_cast<std::size_t>(number)];
    return static_cast<std::int32_t>(number);
  });
  return numbers;
}

ContingencyTable tabulate(Labels predicted, Labels truth) {
  if (predicted.size() != truth.size())
    throw InvalidArgument(
        "cannot compare {} predicted labels with {} true labels: "
        "both must label the same items",
        predicted.size(), truth.size());
  if (predicted.size() > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("cannot score {} labels: at most {} are supported", predicted.size(),
                          std::numeric_limits<std::int32_t>::max());
  ContingencyTable table;
  table.items = static_cast<std::int64_t>(predicted.size());
  const auto clusters = compact(predicted, table.cluster_sizes);
  const auto classes = compact(truth, table.class_sizes);

  std::vector<std::int64_t> pairs(predicted.size());
  std::ranges::transform(clusters, classes, pairs.begin(),
                         [](std::int64_t c, std::int64_t l) { return (c << 32) | l; });
  std::ranges::sort(pairs);
  for (std::size_t i = 0; i < pairs.size();) {
    std::size_t end = i;
    while (end < pairs.size() && pairs[end] == pairs[i]) ++end;
    table.cells.push_back({static_cast<std::int32_t>(pairs[i] >> 32),
                           static_cast<std::int32_t>(pairs[i] & 0xffffffff),
                           static_cast<std::int64_t>(end - i)});
    i = end;
  }
  return table;
}

/// Summed in increasing order: how labels are numbered, and which labelling comes first, then
/// cannot change even the last digit.
double sum(std::vector<double> terms) {
  std::ranges::sort(terms);
  return std::accumulate(terms.begin(), terms.end(), 0.0);
}

double entropy(const std::vector<std::int64_t>& sizes, std::int64_t items) {
  const auto total = static_cast<double>(items);
  std::vector<double> terms;
  for (const auto n : sizes) {
    const auto count = static_cast<double>(n);
    terms.push_back(count / total * std::log(total / count));
  }
  return sum(std::move(terms));
}

double mutual_information(const ContingencyTable& table) {
  const auto total = static_cast<double>(table.items);
  std::vector<double> terms;
  for (const auto& [cluster, label, n] : table.cells) {
    const auto size = table.cluster_sizes[static_cast<std::size_t>(cluster)];
    const auto class_size = table.class_sizes[static_cast<std::size_t>(label)];
    const auto count = static_cast<double>(n);
    terms.push_back(
        count / total *
        std::log(static_cast<double>(n * table.items) / static_cast<double>(size * class_size)));
  }
  return std::max(0.0, sum(std::move(terms)));
}

/// n/N log(N n / (a b)), to expect of the n that clusters of a and b of N items share by chance.
/// Their hypergeometric weights are summed from the most likely n outwards, until they vanish.
double expected_cell(std::int64_t a, std::int64_t b, std::int64_t items) {
  constexpr double kVanishing = 1e-18;
  const auto low = std::max<std::int64_t>(0, a + b - items), high = std::min(a, b);
  const auto number = [](std::int64_t n) { return static_cast<double>(n); };
  const auto rise = [&](std::int64_t n) {  // weight of n + 1 over that of n
    return number(a - n) * number(b - n) / (number(n + 1) * number(items - a - b + n + 1));
  };
  const auto share = [&](std::int64_t n) {
    return n == 0 ? 0.0
                  : number(n) / number(items) *
                        std::log(number(items) * number(n) / (number(a) * number(b)));
  };
  const auto mode = std::clamp(
      static_cast<std::int64_t>(number(a + 1) * number(b + 1) / number(items + 2)), low, high);
  double weights = 1.0, total = share(mode), weight = 1.0;
  const auto add = [&](std::int64_t n) {
    weights += weight;
    total += weight * share(n);
  };
  for (auto n = mode; n < high && weight > kVanishing; add(++n)) weight *= rise(n);
  weight = 1.0;
  for (auto n = mode; n > low && weight > kVanishing; add(--n)) weight /= rise(n - 1);
  return total / weights;
}

/// Of labels dealt out at random to clusters of these sizes (Vinh, Epps & Bailey 2010).
double expected_mutual_information(const ContingencyTable& table) {
  const auto occurring = [](const std::vector<std::int64_t>& sizes) {
    std::map<std::int64_t, std::int64_t> times;  // many clusters have the same size
    for (const auto size : sizes) ++times[size];
    return times;
  };
  std::vector<double> terms;
  for (const auto& [a, times_a] : occurring(table.cluster_sizes))
    for (const auto& [b, times_b] : occurring(table.class_sizes))
      terms.push_back(static_cast<double>(times_a) * static_cast<double>(times_b) *
                      expected_cell(a, b, table.items));
  return std::max(0.0, sum(std::move(terms)));
}

/// part / whole as a score in [0, 1]; 1 when there is nothing to explain.
double share(double part, double whole) { return whole > 0.0 ? std::min(1.0, part / whole) : 1.0; }

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 1.0;
}

double mean_entropy(const ContingencyTable& table) {
  return 0.5 *
         (entropy(table.cluster_sizes, table.items) + entropy(table.class_sizes, table.items));
}

double nmi(const ContingencyTable& table) {
  return share(mutual_information(table), mean_entropy(table));
}

double ami(const ContingencyTable& table, double by_chance) {
  constexpr double kNothing =
      1e-14;  // to be won over chance, as with one cluster or as many as items
  const double possible = mean_entropy(table) - by_chance;
  if (possible < kNothing) return 1.0;
  return std::min(1.0, (mutual_information(table) - by_chance) / possible);
}

double ari(const ContingencyTable& table) {
  using Wide = __int128;  // Products of two numbers of pairs.
  const auto pairs = [](Wide n) { return n * (n - 1) / 2; };
  Wide together_in_both = 0, together_in_clusters = 0, together_in_classes = 0;
  for (const auto& cell : table.cells) together_in_both += pairs(cell.weight);
  for (const auto n : table.cluster_sizes) together_in_clusters += pairs(n);
  for (const auto n : table.class_sizes) together_in_classes += pairs(n);
  const Wide all = pairs(table.items);

  const Wide only_in_clusters = together_in_clusters - together_in_both;
  const Wide only_in_classes = together_in_classes - together_in_both;
  if (only_in_clusters == 0 && only_in_classes == 0) return 1.0;
  const Wide apart_in_both = all - together_in_both - only_in_clusters - only_in_classes;
  const Wide agreement =
      2 * (together_in_both * apart_in_both - only_in_clusters * only_in_classes);
  const Wide possible = together_in_clusters * (all - together_in_classes) +
                        together_in_classes * (all - together_in_clusters);
  return static_cast<double>(agreement) / static_cast<double>(possible);
}

double accuracy(const ContingencyTable& table) {
  return share(
      maximum_matching_weight(table.cells, static_cast<std::int32_t>(table.cluster_sizes.size()),
                              static_cast<std::int32_t>(table.class_sizes.size())),
      table.items);
}

double cluster_purity(const ContingencyTable& table) {
  std::vector<std::int64_t> largest(table.cluster_sizes.size(), 0);
  for (const auto& cell : table.cells) {
    auto& most = largest[static_cast<std::size_t>(cell.row)];
    most = std::max(most, cell.weight);
  }
  return share(std::accumulate(largest.begin(), largest.end(), std::int64_t{0}), table.items);
}

double explained_entropy(const ContingencyTable& table, const std::vector<std::int64_t>& sizes) {
  return share(mutual_information(table), entropy(sizes, table.items));
}

}  // namespace

double normalized_mutual_information(Labels predicted, Labels truth) {
  return nmi(tabulate(predicted, truth));
}

double adjusted_mutual_information(Labels predicted, Labels truth) {
  const auto table = tabulate(predicted, truth);
  return ami(table, expected_mutual_information(table));
}

double chance_nmi(Labels predicted, Labels truth) {
  const auto table = tabulate(predicted, truth);
  return share(expected_mutual_information(table), mean_entropy(table));
}

double adjusted_rand_index(Labels predicted, Labels truth) {
  return ari(tabulate(predicted, truth));
}

double matched_accuracy(Labels predicted, Labels truth) {
  return accuracy(tabulate(predicted, truth));
}

std::vector<std::int32_t> matched_truth(Labels predicted, Labels truth) {
  const auto table = tabulate(predicted, truth);
  std::vector<std::int64_t> sizes;
  const auto clusters = compact(predicted, sizes);
  auto classes = compact(truth, sizes);
  std::vector<std::int32_t> name(table.cluster_sizes.size()), match(table.class_sizes.size(), -1);
  for (std::size_t i = 0; i < clusters.size(); ++i)
    name[static_cast<std::size_t>(clusters[i])] = predicted[i];
  const auto class_of =
      maximum_matching(table.cells, static_cast<std::int32_t>(table.cluster_sizes.size()),
                       static_cast<std::int32_t>(table.class_sizes.size()));
  for (std::size_t c = 0; c < class_of.size(); ++c)
    if (class_of[c] >= 0) match[static_cast<std::size_t>(class_of[c])] = name[c];
  for (auto& one : classes) one = match[static_cast<std::size_t>(one)];
  return classes;
}

double purity(Labels predicted, Labels truth) { return cluster_purity(tabulate(predicted, truth)); }

double homogeneity(Labels predicted, Labels truth) {
  const auto table = tabulate(predicted, truth);
  return explained_entropy(table, table.class_sizes);
}

double completeness(Labels predicted, Labels truth) {
  const auto table = tabulate(predicted, truth);
  return explained_entropy(table, table.cluster_sizes);
}

ClusteringScores score_clustering(Labels predicted, Labels truth) {
  const auto table = tabulate(predicted, truth);
  const double by_chance = expected_mutual_information(table);
  return {.nmi = nmi(table),
          .ari = ari(table),
          .accuracy = accuracy(table),
          .purity = cluster_purity(table),
          .homogeneity = explained_entropy(table, table.class_sizes),
          .completeness = explained_entropy(table, table.cluster_sizes),
          .ami = ami(table, by_chance),
          .chance_nmi = share(by_chance, mean_entropy(table))};
}

}  // namespace kindred
