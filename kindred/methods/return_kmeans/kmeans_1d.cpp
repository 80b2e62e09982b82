#include "kindred/methods/return_kmeans/kmeans_1d.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kindred/core/error.h"

namespace kindred::return_kmeans {
namespace {

/// Cost of putting sorted values [i, j) in one cluster, in O(1) from running sums.
class IntervalCost {
 public:
  explicit IntervalCost(std::span<const double> sorted) : sum_(1, 0.0), squares_(1, 0.0) {
    shift_ =
        std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
    for (const double x : sorted) {
      const double y = x - shift_;  // centred: the difference of large squares loses precision
      sum_.push_back(sum_.back() + y);
      squares_.push_back(squares_.back() + y * y);
    }
  }
  double operator()(std::int64_t i, std::int64_t j) const {
    const auto a = static_cast<std::size_t>(i);
    const auto b = static_cast<std::size_t>(j);
    const double sum = sum_[b] - sum_[a];
    return std::max(0.0, squares_[b] - squares_[a] - sum * sum / static_cast<double>(j - i));
  }
  double mean(std::int64_t i, std::int64_t j) const {
    return shift_ + (sum_[static_cast<std::size_t>(j)] - sum_[static_cast<std::size_t>(i)]) /
                        static_cast<double>(j - i);
  }

 private:
  double shift_;
  std::vector<double> sum_, squares_;
};

/// One layer of the programme: best[j] = min over i of previous[i] + cost(i, j). The best i does
/// not fall as j grows, so each half of the range needs to look only on its side of the middle's
/// answer.
struct Layer {
  const IntervalCost& cost;
  const std::vector<double>& previous;
  std::vector<double>& best;
  std::vector<std::int64_t>& from;

  void solve(std::int64_t j_low, std::int64_t j_high, std::int64_t i_low, std::int64_t i_high) {
    if (j_low > j_high) return;
    const auto j = (j_low + j_high) / 2;
    for (auto i = i_low; i <= std::min(i_high, j - 1); ++i) {
      const double total = previous[static_cast<std::size_t>(i)] + cost(i, j);
      if (total < best[static_cast<std::size_t>(j)]) {
        best[static_cast<std::size_t>(j)] = total;
        from[static_cast<std::size_t>(j)] = i;
      }
    }
    const auto split = from[static_cast<std::size_t>(j)];
    solve(j_low, j - 1, i_low, split);
    solve(j + 1, j_high, split, i_high);
  }
};

}  // namespace

KMeans1d kmeans_1d(std::span<const double> values, std::int64_t k) {
  if (values.empty()) throw InvalidArgument("k-means needs at least one value");
  if (k < 1) throw InvalidArgument("k-means needs k of at least 1, not {}", k);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> sorted;
  for (const auto i : order) sorted.push_back(values[i]);
  std::int64_t distinct = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) distinct += sorted[i] != sorted[i - 1];
  k = std::min(k, distinct);

  const auto n = static_cast<std::int64_t>(sorted.size());
  const IntervalCost cost(sorted);
  std::vector<double> best(sorted.size() + 1, std::numeric_limits<double>::infinity());
  best[0] = 0.0;
  std::vector<std::vector<std::int64_t>> from;  // [k][n + 1]
  for (std::int64_t c = 1; c <= k; ++c) {
    std::vector<double> next(best.size(), std::numeric_limits<double>::infinity());
    auto& choice = from.emplace_back(best.size(), c - 1);
    Layer{cost, best, next, choice}.solve(c, n, c - 1, n - 1);
    best = std::move(next);
  }

  KMeans1d result;
  result.cost = best.back();
  result.labels.resize(values.size());
  result.centres.resize(static_cast<std::size_t>(k));
  for (auto end = n; k-- > 0;) {
    const auto begin = from[static_cast<std::size_t>(k)][static_cast<std::size_t>(end)];
    result.centres[static_cast<std::size_t>(k)] = cost.mean(begin, end);
    for (auto i = begin; i < end; ++i)
      result.labels[order[static_cast<std::size_t>(i)]] = static_cast<std::int32_t>(k);
    end = begin;
  }
  return result;
}

}  // namespace kindred::return_kmeans
