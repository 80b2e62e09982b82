#include "kindred/policies/merge.h"

#include <algorithm>
#include <limits>

namespace kindred {
namespace {

struct Pair {
  std::int64_t into = -1;
  std::int64_t from = -1;
  double cost = std::numeric_limits<double>::infinity();
};

/// fit(i, j): log-likelihood of cluster j's trajectories under policy i.
Pair choose_pair(const Matrix& fit, MergeRule rule, const std::vector<std::uint8_t>& alive) {
  Pair best;
  for (std::int64_t i = 0; i < fit.rows; ++i)
    for (std::int64_t j = 0; j < fit.columns; ++j) {
      if (i == j || !alive[static_cast<std::size_t>(i)] || !alive[static_cast<std::size_t>(j)])
        continue;
      const double cost = rule == MergeRule::kPrinted ? fit(i, j) : fit(j, j) - fit(i, j);
      // A pair at infinite cost is still a pair: without a floor every pair may be impossible.
      if (best.from < 0 || cost < best.cost) best = {i, j, cost};
    }
  return best;
}

}  // namespace

std::vector<MergeStep> merge_clusters(const Matrix& scores, std::int64_t target, MergeRule rule,
                                      std::vector<std::int32_t>& labels,
                                      std::vector<std::uint8_t>& alive) {
  const auto k = scores.columns;
  Matrix fit(k, k);
  for (std::int64_t n = 0; n < scores.rows; ++n)
    for (std::int64_t i = 0; i < k; ++i)
      fit(i, labels[static_cast<std::size_t>(n)]) += scores(n, i);

  std::vector<MergeStep> steps;
  for (auto left = std::ranges::count(alive, 1); left > target; --left) {
    const Pair pair = choose_pair(fit, rule, alive);
    for (std::int64_t i = 0; i < k; ++i) fit(i, pair.into) += fit(i, pair.from);
    alive[static_cast<std::size_t>(pair.from)] = 0;
    std::ranges::replace(labels, static_cast<std::int32_t>(pair.from),
                         static_cast<std::int32_t>(pair.into));
    double objective = 0.0;
    for (std::int64_t i = 0; i < k; ++i)
      if (alive[static_cast<std::size_t>(i)]) objective += fit(i, i);
    steps.push_back({pair.from, pair.into, objective});
  }
  return steps;
}

}  // namespace kindred
