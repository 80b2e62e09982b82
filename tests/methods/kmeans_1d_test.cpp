#include "kindred/methods/return_kmeans/kmeans_1d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/core/random.h"

namespace kindred::return_kmeans {
namespace {

/// The best cost by trying every way to cut the sorted values into k stretches.
double brute_force(std::vector<double> values, std::int64_t k) {
  std::ranges::sort(values);
  const auto n = static_cast<std::int64_t>(values.size());
  const auto cost = [&](std::int64_t i, std::int64_t j) {
    double mean = 0.0, sum = 0.0;
    for (auto t = i; t < j; ++t)
      mean += values[static_cast<std::size_t>(t)] / static_cast<double>(j - i);
    for (auto t = i; t < j; ++t)
      sum += (values[static_cast<std::size_t>(t)] - mean) *
             (values[static_cast<std::size_t>(t)] - mean);
    return sum;
  };
  std::vector<std::vector<double>> best(
      static_cast<std::size_t>(k + 1),
      std::vector<double>(static_cast<std::size_t>(n + 1),
                          std::numeric_limits<double>::infinity()));
  best[0][0] = 0.0;
  for (std::int64_t c = 1; c <= k; ++c)
    for (std::int64_t j = 1; j <= n; ++j)
      for (std::int64_t i = 0; i < j; ++i)
        best[static_cast<std::size_t>(c)][static_cast<std::size_t>(j)] = std::min(
            best[static_cast<std::size_t>(c)][static_cast<std::size_t>(j)],
            best[static_cast<std::size_t>(c - 1)][static_cast<std::size_t>(i)] + cost(i, j));
  return best[static_cast<std::size_t>(k)][static_cast<std::size_t>(n)];
}

TEST(KMeans1d, IsOptimal) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed, "values");
    std::vector<double> values(5 + random.below(40));
    for (auto& x : values)
      x = 1000.0 + (seed % 2 ? random.normal() : static_cast<double>(random.below(20)));
    for (std::int64_t k = 1; k <= 4; ++k) {
      const auto result = kmeans_1d(values, k);
      EXPECT_NEAR(result.cost, brute_force(values, k), 1e-6);
      double cost = 0.0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double d = values[i] - result.centres[static_cast<std::size_t>(result.labels[i])];
        cost += d * d;
      }
      EXPECT_NEAR(cost, result.cost, 1e-6);
      EXPECT_TRUE(std::ranges::is_sorted(result.centres));
    }
  }
}

TEST(KMeans1d, FewerDistinctValuesThanClusters) {
  const auto result = kmeans_1d(std::vector<double>{3.0, 3.0, 1.0}, 5);
  EXPECT_EQ(result.centres, (std::vector<double>{1.0, 3.0}));
  EXPECT_EQ(result.labels, (std::vector<std::int32_t>{1, 1, 0}));
}

TEST(KMeans1d, NothingToClusterIsAnError) {
  EXPECT_THROW(kmeans_1d({}, 2), InvalidArgument);
  EXPECT_THROW(kmeans_1d(std::vector<double>{1.0}, 0), InvalidArgument);
}

}  // namespace
}  // namespace kindred::return_kmeans
