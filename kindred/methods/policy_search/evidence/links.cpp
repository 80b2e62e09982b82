#include "kindred/methods/policy_search/evidence/links.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "kindred/core/error.h"

namespace kindred::policy_search {

Links::Links(std::int64_t episodes, std::span<const Pair> together, std::span<const Pair> apart) {
  std::vector<std::int64_t> leader(static_cast<std::size_t>(episodes));
  std::iota(leader.begin(), leader.end(), 0);
  const auto leader_of = [&](std::int64_t i) {
    while (leader[static_cast<std::size_t>(i)] != i) {
      auto& up = leader[static_cast<std::size_t>(i)];
      i = up = leader[static_cast<std::size_t>(up)];
    }
    return i;
  };
  for (const auto& [a, b] : together) {
    const auto x = leader_of(a), y = leader_of(b);
    leader[static_cast<std::size_t>(std::max(x, y))] = std::min(x, y);
  }
  group_of_.assign(static_cast<std::size_t>(episodes), -1);
  std::vector<std::uint8_t> known(static_cast<std::size_t>(episodes), 0);
  for (const auto& pairs : {together, apart})
    for (const auto& [a, b] : pairs)
      known[static_cast<std::size_t>(a)] = known[static_cast<std::size_t>(b)] = 1;
  std::map<std::int64_t, std::int64_t> number;
  for (std::int64_t i = 0; i < episodes; ++i) {
    if (known[static_cast<std::size_t>(i)] == 0) continue;
    const auto [found, is_new] = number.try_emplace(leader_of(i), std::ssize(groups_));
    if (is_new) groups_.emplace_back();
    groups_[static_cast<std::size_t>(found->second)].episodes.push_back(i);
    group_of_[static_cast<std::size_t>(i)] = found->second;
  }
  for (const auto& [a, b] : apart) {
    const auto x = static_cast<std::size_t>(group_of_[static_cast<std::size_t>(a)]);
    const auto y = static_cast<std::size_t>(group_of_[static_cast<std::size_t>(b)]);
    if (x == y)
      throw InvalidArgument("episodes {} and {} are to be kept apart, but links join them", a, b);
    groups_[x].apart.push_back(y);
    groups_[y].apart.push_back(x);
  }
  for (auto& group : groups_) {
    std::ranges::sort(group.apart);
    const auto repeated = std::ranges::unique(group.apart);
    group.apart.erase(repeated.begin(), repeated.end());
  }
}

std::vector<std::int64_t> Links::episodes() const {
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < group_of_.size(); ++i)
    if (group_of_[i] >= 0) result.push_back(static_cast<std::int64_t>(i));
  return result;
}

Links Links::among(std::span<const std::int64_t> episodes) const {
  if (empty()) return {};
  std::vector<std::int64_t> first(groups_.size(), -1);  // of each group, as renumbered
  std::vector<Pair> together, apart;
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    const auto group = group_of_[static_cast<std::size_t>(episodes[i])];
    if (group < 0) continue;
    auto& of_group = first[static_cast<std::size_t>(group)];
    if (of_group < 0) of_group = static_cast<std::int64_t>(i);
    together.emplace_back(of_group, static_cast<std::int64_t>(i));
  }
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (const auto other : groups_[g].apart)
      if (other > g && first[g] >= 0 && first[other] >= 0)
        apart.emplace_back(first[g], first[other]);
  return {std::ssize(episodes), together, apart};
}

std::int64_t Links::least_clusters() const {
  std::vector<std::int32_t> labels(group_of_.size(), 0);
  enforce(labels, std::max<std::int64_t>(1, std::ssize(groups_)));
  return labels.empty() ? 1 : 1 + *std::ranges::max_element(labels);
}

bool Links::kept(std::span<const std::int32_t> labels) const {
  const auto label = [&](std::int64_t i) { return labels[static_cast<std::size_t>(i)]; };
  return std::ranges::all_of(groups_, [&](const Group& group) {
    const auto own = label(group.episodes.front());
    return std::ranges::all_of(group.episodes, [&](auto i) { return label(i) == own; }) &&
           std::ranges::none_of(group.apart, [&](auto other) {
             return label(groups_[other].episodes.front()) == own;
           });
  });
}

void Links::enforce(std::span<std::int32_t> labels, std::int64_t k) const {
  if (keep_apart(labels, k)) return;
  // What labels were before can lead into a corner; from nothing the groups fit.
  std::ranges::for_each(episodes(), [&](auto i) { labels[static_cast<std::size_t>(i)] = 0; });
  if (!keep_apart(labels, k))
    throw InvalidArgument("the links keep more than {} groups of episodes apart", k);
}

bool Links::keep_apart(std::span<std::int32_t> labels, std::int64_t k) const {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto& group = groups_[g];
    std::vector<std::uint8_t> taken(static_cast<std::size_t>(k), 0);
    for (const auto other : group.apart)
      if (other < g)
        taken[static_cast<std::size_t>(
            labels[static_cast<std::size_t>(groups_[other].episodes.front())])] = 1;
    auto own = labels[static_cast<std::size_t>(group.episodes.front())];
    if (taken[static_cast<std::size_t>(own)] != 0) {
      const auto free = std::ranges::find(taken, std::uint8_t{0});
      if (free == taken.end()) return false;
      own = static_cast<std::int32_t>(free - taken.begin());
    }
    for (const auto i : group.episodes) labels[static_cast<std::size_t>(i)] = own;
  }
  return true;
}

std::int64_t Links::assign(const Matrix& costs, std::span<std::int32_t> labels) const {
  std::int64_t changed = 0;
  const auto cheapest = [&](const auto& cost, std::int32_t own, const auto& allowed) {
    auto best = own;
    for (std::int32_t j = 0; j < costs.columns; ++j)
      if (cost(j) < cost(best) && allowed(j)) best = j;
    return best;
  };
  for (std::int64_t i = 0; i < costs.rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!empty() && group_of_[at] >= 0) continue;
    const auto best = cheapest([&](std::int32_t j) { return costs(i, j); }, labels[at],
                               [](std::int32_t) { return true; });
    changed += best != labels[at];
    labels[at] = best;
  }
  for (const auto& group : groups_) {
    std::vector<double> sums(static_cast<std::size_t>(costs.columns), 0.0);
    for (const auto i : group.episodes)
      for (std::int64_t j = 0; j < costs.columns; ++j)
        sums[static_cast<std::size_t>(j)] += costs(i, j);
    const auto own = labels[static_cast<std::size_t>(group.episodes.front())];
    const auto best =
        cheapest([&](std::int32_t j) { return sums[static_cast<std::size_t>(j)]; }, own,
                 [&](std::int32_t j) {
                   return std::ranges::none_of(group.apart, [&](auto other) {
                     return labels[static_cast<std::size_t>(groups_[other].episodes.front())] == j;
                   });
                 });
    if (best == own) continue;
    changed += std::ssize(group.episodes);
    for (const auto i : group.episodes) labels[static_cast<std::size_t>(i)] = best;
  }
  return changed;
}

}  // namespace kindred::policy_search
