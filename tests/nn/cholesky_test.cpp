#include "kindred/nn/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kindred/core/random.h"

namespace kindred {
namespace {

constexpr std::int64_t kRightSides = 3;
constexpr double kRidge = 0.5;

/// A random symmetric matrix without negative directions, and right sides.
struct Equations {
  explicit Equations(std::int64_t size) : n(size) {
    Random random(7, "equations", static_cast<std::uint64_t>(n));
    std::vector<double> rows(static_cast<std::size_t>((n + 5) * n));
    for (auto& number : rows) number = random.normal();
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        double& sum = lower.emplace_back(0.0);
        for (std::int64_t t = 0; t < n + 5; ++t)
          sum +=
              rows[static_cast<std::size_t>(t * n + i)] * rows[static_cast<std::size_t>(t * n + j)];
      }
    right.resize(static_cast<std::size_t>(n * kRightSides));
    for (auto& number : right) number = random.normal();
  }

  double at(std::int64_t i, std::int64_t j) const {
    const auto row = std::max(i, j), column = std::min(i, j);
    return lower[static_cast<std::size_t>(row * (row + 1) / 2 + column)] + (i == j ? kRidge : 0.0);
  }

  std::int64_t n;
  std::vector<double> lower, right;
};

class Cholesky : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Cholesky, SolvesItsEquations) {
  const Equations equations(GetParam());
  const auto n = equations.n;
  const auto x =
      CholeskyFactor(n, equations.lower, kRidge, kRightSides, equations.right).solution();
  ASSERT_EQ(x.size(), equations.right.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t c = 0; c < kRightSides; ++c) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += equations.at(i, j) * x[static_cast<std::size_t>(j * kRightSides + c)];
      EXPECT_NEAR(sum, equations.right[static_cast<std::size_t>(i * kRightSides + c)], 1e-9);
    }
}

TEST_P(Cholesky, GivesTheFormsOfTheRightSides) {
  const Equations equations(GetParam());
  const CholeskyFactor factor(equations.n, equations.lower, kRidge, kRightSides, equations.right);
  const auto x = factor.solution(), forms = factor.forms();
  ASSERT_EQ(std::ssize(forms), kRightSides);
  for (std::int64_t c = 0; c < kRightSides; ++c) {
    double sum = 0.0;
    for (auto i = static_cast<std::size_t>(c); i < x.size(); i += kRightSides)
      sum += x[i] * equations.right[i];
    EXPECT_NEAR(forms[static_cast<std::size_t>(c)], sum, 1e-9 * (1.0 + sum));
  }
}

TEST_P(Cholesky, KnowsTheTraceOfTheInverse) {
  const Equations equations(GetParam());
  const auto n = equations.n;
  std::vector<double> identity(static_cast<std::size_t>(n * n), 0.0);
  for (std::int64_t i = 0; i < n; ++i) identity[static_cast<std::size_t>(i * (n + 1))] = 1.0;
  const CholeskyFactor factor(n, equations.lower, kRidge, n, identity);
  const auto inverse = factor.solution();
  double trace = 0.0;
  for (std::int64_t i = 0; i < n; ++i) trace += inverse[static_cast<std::size_t>(i * (n + 1))];
  EXPECT_NEAR(factor.inverse_trace(), trace, 1e-9 * trace);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Cholesky, ::testing::Values(1, 2, 4, 7, 16, 17, 31, 78, 130));

}  // namespace
}  // namespace kindred
