#include "kindred/conflicts/least_policies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kindred/conflicts/bounds.h"
#include "kindred/core/stopwatch.h"

namespace kindred {
namespace {

constexpr double kMostCells = 5e7;         // behaviours x policies that a search keeps account of
constexpr std::int64_t kFirstTry = 20000;  // nodes, for the lower bound itself

using conflicts::at;

std::int32_t colours(std::span<const std::int32_t> policy) {
  return policy.empty() ? 0 : *std::ranges::max_element(policy) + 1;
}

/// What is left of the limits.
class Budget {
 public:
  explicit Budget(const SearchLimits& limits) : limits_(limits) {}

  /// For one search, of no more than so many nodes.
  SearchLimits rest(std::int64_t most_nodes) const {
    return {.nodes = std::min(most_nodes, limits_.nodes - nodes_),
            .seconds = limits_.seconds - clock_.seconds(),
            .stop_requested = limits_.stop_requested};
  }
  void spend(std::int64_t nodes) { nodes_ += nodes; }
  std::int64_t spent() const { return nodes_; }

 private:
  const SearchLimits& limits_;
  Stopwatch clock_;
  std::int64_t nodes_ = 0;
};

/// One part, from both sides.
struct Bounds {
  std::int32_t low = 0;
  std::vector<std::int32_t> clique;
  std::vector<std::int32_t> policy;

  std::int32_t high() const { return colours(policy); }
  bool open() const { return low < high(); }
};

Verdict attempt(const Behaviours& part, std::int32_t k, std::int64_t most_nodes, Bounds& bounds,
                Budget& budget) {
  if (static_cast<double>(part.count()) * k > kMostCells) return Verdict::kUndecided;
  auto outcome = search_colouring(part, k, bounds.clique, budget.rest(most_nodes));
  budget.spend(outcome.nodes);
  if (outcome.verdict == Verdict::kFound) bounds.policy = std::move(outcome.policy);
  if (outcome.verdict == Verdict::kImpossible) bounds.low = k + 1;
  return outcome.verdict;
}

/// From below a little, where data of few policies end at once; then from above.
void close_in(const Behaviours& part, Bounds& bounds, Budget& budget) {
  while (bounds.open())
    if (attempt(part, bounds.low, kFirstTry, bounds, budget) == Verdict::kUndecided) break;
  constexpr auto kAll = std::numeric_limits<std::int64_t>::max();
  while (bounds.open())
    if (attempt(part, bounds.high() - 1, kAll, bounds, budget) == Verdict::kUndecided) break;
}

Bounds solve(const Behaviours& part, Budget& budget) {
  Bounds bounds;
  bounds.policy = best_fit(part);
  bounds.clique = large_clique(part);
  bounds.low = static_cast<std::int32_t>(bounds.clique.size());
  if (bounds.open()) bounds.low = std::max(bounds.low, mycielski_bound(part));
  close_in(part, bounds, budget);
  return bounds;
}

/// The behaviours of each connected part that has conflicts, the largest first.
std::vector<std::vector<std::int32_t>> parts_of(const Behaviours& all) {
  const auto part_of = connected_parts(all);
  std::vector<std::vector<std::int32_t>> parts(at(colours(part_of)));
  for (std::int32_t i = 0; i < all.count(); ++i) parts[at(part_of[at(i)])].push_back(i);
  std::erase_if(parts, [](const auto& part) { return part.size() < 2; });
  std::ranges::stable_sort(parts, std::greater<>(), &std::vector<std::int32_t>::size);
  return parts;
}

}  // namespace

double LeastPolicies::log10_divisions() const {
  const auto log10_factorial = [](std::int32_t n) { return std::lgamma(n + 1.0) / std::log(10.0); };
  double ways = 0.0;
  bool first = true;  // one part that needs all of them gives the policies their names
  for (const auto& part : parts) {
    if (part.at_most == at_most && first) {
      first = false;
      continue;
    }
    ways += log10_factorial(at_most) - log10_factorial(at_most - part.at_most);
  }
  return ways;
}

LeastPolicies least_policies(const ConflictGraph& graph, const SearchLimits& limits) {
  const auto& all = graph.behaviours;
  LeastPolicies found;
  found.policy.assign(at(all.count()), 0);
  found.forced.assign(at(all.count()), false);
  found.at_least = found.at_most = all.count() > 0 ? 1 : 0;
  const auto parts = parts_of(all);
  Budget budget(limits);
  std::vector<std::vector<std::int32_t>> cliques;
  for (const auto& members : parts) {
    const auto part = select_behaviours(all, members);
    const auto bounds = solve(part, budget);
    ConflictPart summary{.trajectories = 0,
                         .behaviours = part.count(),
                         .at_least = bounds.low,
                         .at_most = bounds.high()};
    for (std::size_t i = 0; i < members.size(); ++i) {
      found.policy[at(members[i])] = bounds.policy[i];
      summary.trajectories += graph.members[at(members[i])];
    }
    cliques.emplace_back();
    for (const auto i : bounds.clique) cliques.back().push_back(members[at(i)]);
    found.parts.push_back(summary);
    found.at_least = std::max(found.at_least, summary.at_least);
    found.at_most = std::max(found.at_most, summary.at_most);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (cliques[i].size() > found.clique.size()) found.clique = cliques[i];
    if (std::ssize(cliques[i]) != found.at_most) continue;
    std::vector<std::int32_t> clique;
    for (const auto member : cliques[i])
      clique.push_back(
          static_cast<std::int32_t>(std::ranges::lower_bound(parts[i], member) - parts[i].begin()));
    const auto forced = forced_behaviours(select_behaviours(all, parts[i]), clique);
    for (std::size_t j = 0; j < parts[i].size(); ++j) found.forced[at(parts[i][j])] = forced[j];
  }
  found.nodes = budget.spent();
  return found;
}

SearchOutcome divide_among(const ConflictGraph& graph, std::int32_t k, const SearchLimits& limits) {
  const auto& all = graph.behaviours;
  SearchOutcome whole{
      .verdict = Verdict::kFound, .policy = std::vector(at(all.count()), 0), .nodes = 0};
  Budget budget(limits);
  for (const auto& members : parts_of(all)) {
    const auto part = select_behaviours(all, members);
    Bounds bounds{.low = 0, .clique = large_clique(part), .policy = {}};
    const auto verdict = attempt(part, k, limits.nodes, bounds, budget);
    if (verdict == Verdict::kUndecided && whole.verdict == Verdict::kFound) whole.verdict = verdict;
    if (verdict == Verdict::kFound)
      for (std::size_t i = 0; i < members.size(); ++i)
        whole.policy[at(members[i])] = bounds.policy[i];
    if (verdict != Verdict::kImpossible) continue;
    whole.verdict = verdict;
    break;
  }
  if (whole.verdict != Verdict::kFound) whole.policy.clear();
  whole.nodes = budget.spent();
  return whole;
}

std::vector<std::int32_t> policies_of_episodes(const ConflictGraph& graph,
                                               const LeastPolicies& found) {
  std::vector<std::int32_t> policies;
  for (const auto behaviour : graph.behaviour)
    policies.push_back(behaviour == kContradicts ? kContradicts : found.policy[at(behaviour)]);
  return policies;
}

}  // namespace kindred
