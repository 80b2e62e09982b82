#include "kindred/metrics/matching.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "kindred/core/random.h"

namespace kindred {
namespace {

/// Every row gets its own column, or none: tries all ways.
std::int64_t best_by_trying(const std::vector<std::vector<std::int64_t>>& table) {
  const std::size_t side = std::max(table.size(), table[0].size());
  std::vector<std::size_t> column(side);
  std::iota(column.begin(), column.end(), 0);
  std::int64_t best = 0;
  do {
    std::int64_t total = 0;
    for (std::size_t row = 0; row < table.size(); ++row)
      if (column[row] < table[row].size()) total += table[row][column[row]];
    best = std::max(best, total);
  } while (std::ranges::next_permutation(column).found);
  return best;
}

TEST(Matching, FindsTheBestOfAllMatchings) {
  Random random(1, "matching");
  for (int trial = 0; trial < 400; ++trial) {
    const auto rows = static_cast<std::int32_t>(1 + random.below(6));
    const auto columns = static_cast<std::int32_t>(1 + random.below(6));
    const std::uint64_t largest = trial % 2 ? 3 : 1000;  // Small weights make ties.
    const double density = random.uniform();
    std::vector<std::vector<std::int64_t>> table(
        static_cast<std::size_t>(rows),
        std::vector<std::int64_t>(static_cast<std::size_t>(columns), 0));
    std::vector<MatchingEntry> entries;
    for (std::int32_t row = 0; row < rows; ++row)
      for (std::int32_t column = 0; column < columns; ++column) {
        if (random.uniform() > density) continue;
        const auto weight = static_cast<std::int64_t>(random.below(largest + 1));
        table[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = weight;
        entries.push_back({row, column, weight});
      }
    random.shuffle(std::span(entries));
    ASSERT_EQ(maximum_matching_weight(entries, rows, columns), best_by_trying(table))
        << "trial " << trial;
    std::int64_t weight = 0;
    std::set<std::int32_t> taken;
    const auto column_of = maximum_matching(entries, rows, columns);
    ASSERT_EQ(std::ssize(column_of), rows);
    for (std::size_t row = 0; row < column_of.size(); ++row) {
      if (column_of[row] < 0) continue;
      EXPECT_TRUE(taken.insert(column_of[row]).second) << "trial " << trial;
      weight += table[row][static_cast<std::size_t>(column_of[row])];
    }
    EXPECT_EQ(weight, best_by_trying(table)) << "trial " << trial;
  }
}

TEST(Matching, NothingToMatchWeighsNothing) {
  EXPECT_EQ(maximum_matching_weight({}, 0, 0), 0);
  EXPECT_EQ(maximum_matching_weight({}, 3, 2), 0);
}

}  // namespace
}  // namespace kindred
