#include "kindred/policies/merge.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <optional>

namespace kindred {
namespace {

/// A sum of log-likelihoods in which impossible trajectories are counted apart: without a floor
/// they would make every sum -inf, and differences of sums not a number.
struct Fit {
  std::int64_t impossible = 0;
  double possible = 0.0;

  void add(double score) {
    if (std::isinf(score))
      ++impossible;
    else
      possible += score;
  }
  void operator+=(const Fit& other) {
    impossible += other.impossible;
    possible += other.possible;
  }
  Fit operator-(const Fit& other) const {
    return {impossible - other.impossible, possible - other.possible};
  }
  /// More impossible trajectories are worse than any loss of likelihood.
  std::partial_ordering operator<=>(const Fit& other) const {
    if (impossible != other.impossible) return other.impossible <=> impossible;
    return possible <=> other.possible;
  }
  double sum() const {
    return impossible > 0 ? -std::numeric_limits<double>::infinity() : possible;
  }
};

/// [k, k]; (i, j): cluster j's trajectories under policy i.
class FitTable {
 public:
  FitTable(const Matrix& scores, const std::vector<std::int32_t>& labels)
      : k_(scores.columns), fits_(static_cast<std::size_t>(k_ * k_)) {
    for (std::int64_t n = 0; n < scores.rows; ++n)
      for (std::int64_t i = 0; i < k_; ++i)
        (*this)(i, labels[static_cast<std::size_t>(n)]).add(scores(n, i));
  }
  std::int64_t k() const { return k_; }
  Fit& operator()(std::int64_t i, std::int64_t j) {
    return fits_[static_cast<std::size_t>(i * k_ + j)];
  }
  const Fit& operator()(std::int64_t i, std::int64_t j) const {
    return fits_[static_cast<std::size_t>(i * k_ + j)];
  }

 private:
  std::int64_t k_;
  std::vector<Fit> fits_;
};

struct Pair {
  std::int64_t into;
  std::int64_t from;
  Fit gain;  // negative: what the objective loses
};

Pair choose_pair(const FitTable& fit, MergeRule rule, const std::vector<std::uint8_t>& alive) {
  std::optional<Pair> best;
  for (std::int64_t i = 0; i < fit.k(); ++i)
    for (std::int64_t j = 0; j < fit.k(); ++j) {
      if (i == j || !alive[static_cast<std::size_t>(i)] || !alive[static_cast<std::size_t>(j)])
        continue;
      const Fit gain = rule == MergeRule::kPrinted ? Fit{} - fit(i, j) : fit(i, j) - fit(j, j);
      if (!best || gain > best->gain) best = {i, j, gain};
    }
  return *best;
}

}  // namespace

std::vector<MergeStep> merge_clusters(const Matrix& scores, std::int64_t target, MergeRule rule,
                                      std::vector<std::int32_t>& labels,
                                      std::vector<std::uint8_t>& alive) {
  FitTable fit(scores, labels);
  std::vector<MergeStep> steps;
  for (auto left = std::ranges::count(alive, 1); left > target; --left) {
    const Pair pair = choose_pair(fit, rule, alive);
    for (std::int64_t i = 0; i < fit.k(); ++i) fit(i, pair.into) += fit(i, pair.from);
    alive[static_cast<std::size_t>(pair.from)] = 0;
    std::ranges::replace(labels, static_cast<std::int32_t>(pair.from),
                         static_cast<std::int32_t>(pair.into));
    Fit objective;
    for (std::int64_t i = 0; i < fit.k(); ++i)
      if (alive[static_cast<std::size_t>(i)]) objective += fit(i, i);
    steps.push_back({pair.from, pair.into, objective.sum()});
  }
  return steps;
}

}  // namespace kindred
