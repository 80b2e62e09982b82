#include "kindred/methods/policy_search/evidence/evidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "kindred/data/select.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kFew = 60;  // episodes

}  // namespace

PairedGain paired_gain(std::span<const double> before, std::span<const double> after,
                       double steps) {
  const auto n = static_cast<double>(before.size());
  PairedGain result;
  double sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double gained = before[i] - after[i];
    sum += gained;
    squares += gained * gained;
    result.episodes_better += (gained > 0.0 ? 1.0 : 0.0) / n;
  }
  const double variance = std::max(0.0, squares / n - sum / n * (sum / n));
  result.mean = sum / steps;
  result.error = std::sqrt(n * variance) / steps;
  return result;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<double> naming_costs(std::span<const std::int32_t> labels) {
  std::vector<double> sizes(static_cast<std::size_t>(1 + *std::ranges::max_element(labels)), 0.0);
  for (const auto label : labels) ++sizes[static_cast<std::size_t>(label)];
  std::vector<double> result;
  for (const auto label : labels)
    result.push_back(
        std::log(static_cast<double>(labels.size()) / sizes[static_cast<std::size_t>(label)]));
  return result;
}

std::vector<std::int32_t> joined_labels(std::span<const std::int32_t> labels, ClusterPair pair) {
  std::vector<std::int32_t> result(labels.begin(), labels.end());
  std::ranges::replace(result, pair.second, pair.first);
  return result;
}

std::vector<std::int32_t> only_of(std::span<const std::int32_t> labels, ClusterPair pair) {
  std::vector<std::int32_t> result;
  for (const auto label : labels)
    result.push_back(label == pair.first || label == pair.second ? 0 : -1);
  return result;
}

void join_closest(std::span<const ClusterPair> pairs, const Links& links,
                  std::vector<std::int32_t>& labels) {
  const auto allowed = std::ranges::find_if(
      pairs, [&](const ClusterPair& pair) { return links.kept(joined_labels(labels, pair)); });
  labels =
      consecutive_labels(joined_labels(labels, allowed == pairs.end() ? pairs.front() : *allowed));
}

std::size_t pairs_to_try(const Links& links, std::int64_t k) {
  return links.empty() ? 1 : static_cast<std::size_t>(k * (k - 1) / 2);
}

std::vector<std::int32_t> random_partition(std::int64_t episodes, std::int64_t clusters,
                                           Random random) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(episodes));
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(clusters));
  random.shuffle(std::span(labels));
  return labels;
}

std::vector<std::int64_t> sample_by_id(std::span<const std::string> ids, std::int64_t most,
                                       std::span<const std::int64_t> always) {
  std::vector<std::int64_t> episodes(ids.size());
  std::iota(episodes.begin(), episodes.end(), 0);
  if (std::ssize(episodes) <= most) return episodes;
  std::vector<std::uint64_t> place;
  for (const auto& id : ids) place.push_back(Random(0, "sample/" + id)());
  for (const auto i : always) place[static_cast<std::size_t>(i)] = 0;
  std::ranges::nth_element(episodes, episodes.begin() + most, {}, [&](std::int64_t i) {
    return std::pair(place[static_cast<std::size_t>(i)], i);
  });
  episodes.resize(static_cast<std::size_t>(most));
  std::ranges::sort(episodes);
  return episodes;
}

Trajectories some_episodes(const Trajectories& data, std::int64_t steps) {
  constexpr std::int64_t kFewest = 10;  // so that there are two to each fold
  if (data.steps() <= steps) return data;
  const auto share = static_cast<double>(steps) / static_cast<double>(data.steps());
  const auto most =
      std::max(std::min(data.episodes(), kFewest),
               static_cast<std::int64_t>(static_cast<double>(data.episodes()) * share));
  return select_episodes(data, sample_by_id(data.ids, most, {}));
}

std::vector<std::vector<std::int32_t>> draw_folds(std::span<const std::string> ids,
                                                  std::int64_t folds, std::int64_t draws) {
  std::vector<std::vector<std::int32_t>> result;
  for (std::int64_t draw = 0; draw < draws; ++draw) {
    std::vector<std::uint64_t> place;
    for (const auto& id : ids) place.push_back(Random(static_cast<std::uint64_t>(draw), id)());
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::pair(place[i], std::string_view(ids[i])); });
    auto& fold = result.emplace_back(ids.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      fold[order[i]] = static_cast<std::int32_t>(i % static_cast<std::size_t>(folds));
  }
  return result;
}

FoldPlan FoldPlan::for_episodes(std::int64_t episodes) {
  return episodes <= kFew ? FoldPlan{episodes, 1} : FoldPlan{};
}

}  // namespace kindred::policy_search
