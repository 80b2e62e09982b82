#include "kindred/nn/kmeans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kindred/core/error.h"

namespace kindred {
namespace {

double cost_of(const std::vector<double>& points, std::int64_t dim,
               const std::vector<std::int32_t>& labels, std::int64_t k) {
  double total = 0.0;
  const auto rows = static_cast<std::int64_t>(points.size()) / dim;
  for (std::int64_t c = 0; c < k; ++c)
    for (std::int64_t d = 0; d < dim; ++d) {
      double sum = 0.0;
      double squares = 0.0;
      double n = 0.0;
      for (std::int64_t i = 0; i < rows; ++i)
        if (labels[static_cast<std::size_t>(i)] == c) {
          const double x = points[static_cast<std::size_t>(i * dim + d)];
          sum += x, squares += x * x, n += 1.0;
        }
      if (n > 0.0) total += squares - sum * sum / n;
    }
  return total;
}

/// The least cost of any labelling, by trying all k^rows of them.
double best_cost(const std::vector<double>& points, std::int64_t dim, std::int64_t k) {
  const auto rows = points.size() / static_cast<std::size_t>(dim);
  std::vector<std::int32_t> labels(rows, 0);
  double best = std::numeric_limits<double>::infinity();
  while (true) {
    best = std::min(best, cost_of(points, dim, labels, k));
    std::size_t i = 0;
    while (i < rows && ++labels[i] == k) labels[i++] = 0;
    if (i == rows) return best;
  }
}

TEST(KMeans, FindsTheOptimumOfSmallProblems) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed, "points");
    std::vector<double> points(8 * 2);
    for (auto& x : points) x = random.normal();
    const auto result = kmeans(points, 2, 3, 20, random);
    EXPECT_NEAR(result.cost, best_cost(points, 2, 3), 1e-9);
    EXPECT_NEAR(result.cost, cost_of(points, 2, result.labels, 3), 1e-9);
  }
}

TEST(KMeans, EveryPointItsOwnCluster) {
  Random random(1);
  const std::vector<double> points = {0.0, 1.0, 5.0, 9.0};
  EXPECT_NEAR(kmeans(points, 1, 4, 5, random).cost, 0.0, 1e-12);
}

TEST(KMeans, SameSeedSameResult) {
  Random data(3);
  std::vector<double> points(200);
  for (auto& x : points) x = data.uniform();
  Random a(7, "k"), b(7, "k");
  EXPECT_EQ(kmeans(points, 2, 5, 3, a).labels, kmeans(points, 2, 5, 3, b).labels);
}

TEST(KMeans, IdenticalPointsAreFine) {
  Random random(1);
  const std::vector<double> points(10, 2.5);
  EXPECT_EQ(kmeans(points, 1, 3, 2, random).cost, 0.0);
}

TEST(KMeans, MoreClustersThanPointsIsAnError) {
  Random random(1);
  EXPECT_THROW(kmeans(std::vector<double>{1.0, 2.0}, 1, 3, 1, random), InvalidArgument);
}

}  // namespace
}  // namespace kindred
