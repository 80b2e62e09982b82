#include "kindred/conflicts/proofs.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "kindred/core/random.h"
#include "kindred/data/interning.h"
#include "kindred/data/truth.h"

namespace kindred {
namespace {

using conflicts::at;

class PairCollector {
 public:
  PairCollector(const ConflictGraph& graph, std::int64_t count)
      : rows_(graph.behaviours, graph.members), count_(count) {
    for (std::int64_t i = 0; i < graph.episodes(); ++i)
      if (graph.behaviour[at(i)] != kContradicts) by_column_.push_back(i);
    std::ranges::stable_sort(by_column_, {},
                             [&](std::int64_t i) { return graph.behaviour[at(i)]; });
  }

  bool full() const { return std::ssize(pairs_) >= count_; }
  void add(std::int64_t a, std::int64_t b) {
    if (!full() && seen_.insert(std::minmax(a, b)).second) pairs_.push_back(std::minmax(a, b));
  }
  void add_clique(const std::vector<std::int32_t>& clique, std::span<const std::int64_t> starts) {
    for (std::size_t i = 0; i < clique.size(); ++i)
      for (std::size_t j = i + 1; j < clique.size(); ++j)
        add(by_column_[at(starts[at(clique[i])])], by_column_[at(starts[at(clique[j])])]);
  }
  void add_all(const ConflictGraph& graph, std::span<const std::int64_t> starts) {
    for (std::int32_t a = 0; a < graph.behaviours.count(); ++a) {
      const auto row = rows_.row(a);
      for (auto b = next_bit(row, starts[at(a) + 1]); b >= 0; b = next_bit(row, b + 1))
        for (auto i = starts[at(a)]; i < starts[at(a) + 1]; ++i)
          add(by_column_[at(i)], by_column_[at(b)]);
    }
  }
  /// A member of the behaviour and one of those who conflict with it.
  void add_random(std::int32_t behaviour, std::span<const std::int64_t> starts, Random& random) {
    const auto row = rows_.row(behaviour);
    const auto others = count_bits(row);
    if (others == 0) return;
    auto skipped = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(others)));
    auto column = next_bit(row, 0);
    for (; skipped > 0; --skipped) column = next_bit(row, column + 1);
    const auto width = starts[at(behaviour) + 1] - starts[at(behaviour)];
    const auto own = starts[at(behaviour)] +
                     static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(width)));
    add(by_column_[at(own)], by_column_[at(column)]);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> take() && { return std::move(pairs_); }

 private:
  ConflictRows rows_;
  std::int64_t count_;
  std::vector<std::int64_t> by_column_;  // trajectories, behaviour by behaviour
  std::set<std::pair<std::int64_t, std::int64_t>> seen_;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs_;
};

/// Running sums, by which a behaviour is drawn as often as it has conflicts.
std::vector<double> shares_of(const ConflictGraph& graph, const ConflictCount& counted) {
  std::vector<double> sums;
  double sum = 0.0;
  for (std::size_t i = 0; i < graph.members.size(); ++i) {
    sum += counted.exact ? counted.degrees[i] * static_cast<double>(graph.members[i]) : 1.0;
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace

std::vector<Disagreement> conflicting_pairs(const Trajectories& data, const ConflictGraph& graph,
                                            const ConflictCount& counted,
                                            const LeastPolicies& least, std::int64_t count,
                                            std::uint64_t seed) {
  if (counted.pairs == 0.0 || count == 0) return {};
  std::vector<std::int64_t> starts(graph.members.size() + 1, 0);
  std::partial_sum(graph.members.begin(), graph.members.end(), starts.begin() + 1);
  PairCollector pairs(graph, count);
  if (counted.exact && counted.pairs <= static_cast<double>(count)) {
    pairs.add_all(graph, starts);
  } else {
    pairs.add_clique(least.clique, starts);
    const auto sums = shares_of(graph, counted);
    Random random(seed, "pairs");
    for (auto tries = 20 * count; tries > 0 && !pairs.full(); --tries) {
      const auto drawn = std::ranges::upper_bound(sums, random.uniform() * sums.back());
      pairs.add_random(static_cast<std::int32_t>(drawn - sums.begin()), starts, random);
    }
  }
  std::vector<Disagreement> found;
  const auto states = number_states(data.observations);
  for (const auto& [a, b] : std::move(pairs).take())
    found.push_back(*find_disagreement(data, states, a, b));
  return found;
}

std::vector<ClusterConflicts> conflicts_inside(const ConflictGraph& graph,
                                               std::span<const std::int32_t> labels,
                                               const Workers& workers) {
  const auto values = count_labels(labels).values;
  std::vector<ClusterConflicts> found(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) found[i].label = values[i];
  std::vector members(values.size(), std::vector<std::int64_t>(graph.members.size()));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    const auto cluster = at(std::ranges::lower_bound(values, labels[i]) - values.begin());
    ++found[cluster].trajectories;
    if (graph.behaviour[i] == kContradicts)
      ++found[cluster].contradict;
    else
      ++members[cluster][at(graph.behaviour[i])];
  }
  for (std::size_t cluster = 0; cluster < found.size(); ++cluster) {
    std::vector<std::int32_t> chosen;
    std::vector<std::int64_t> widths;
    for (std::int32_t i = 0; i < graph.behaviours.count(); ++i)
      if (const auto width = members[cluster][at(i)]; width > 0) {
        chosen.push_back(i);
        widths.push_back(width);
      }
    found[cluster].count =
        count_conflicts(select_behaviours(graph.behaviours, chosen), widths, workers);
  }
  return found;
}

}  // namespace kindred
