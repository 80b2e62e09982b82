#include "kindred/nn/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/nn/elementwise.h"

namespace kindred {
namespace {

std::vector<float> normal_values(std::int64_t n, std::uint64_t seed) {
  Random random(seed, "gemm");
  std::vector<float> values(static_cast<std::size_t>(n));
  for (auto& x : values) x = static_cast<float>(random.normal());
  return values;
}

/// Every row remainder, one and several lanes, depths beyond one pass, both operand layouts.
TEST(Gemm, MatchesTheDefinition) {
  for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 48})
    for (const std::int64_t n : {16, 32, 48, 128})
      for (const std::int64_t k : {1, 17, 256, 300})
        for (const bool transposed : {false, true})
          for (const bool accumulate : {false, true}) {
            const auto a = normal_values(m * k, 1);
            const auto b = normal_values(k * n, 2);
            const auto start = normal_values(m * n, 3);
            auto c = start;
            const StridedMatrix strided =
                transposed ? StridedMatrix{a.data(), 1, m} : StridedMatrix{a.data(), k, 1};
            gemm(m, n, k, strided, b.data(), c.data(), accumulate);
            for (std::int64_t i = 0; i < m; ++i)
              for (std::int64_t j = 0; j < n; ++j) {
                const auto at = static_cast<std::size_t>(i * n + j);
                double expected = accumulate ? static_cast<double>(start[at]) : 0.0;
                for (std::int64_t p = 0; p < k; ++p)
                  expected += static_cast<double>(
                                  a[static_cast<std::size_t>(transposed ? p * m + i : i * k + p)]) *
                              static_cast<double>(b[static_cast<std::size_t>(p * n + j)]);
                ASSERT_NEAR(static_cast<double>(c[at]), expected, 2e-4)
                    << m << "x" << n << "x" << k << " at " << i << "," << j;
              }
          }
}

/// Biases, ReLUs and the gates of their gradients, each where a tile is whole and where it is not,
/// with one pass over the depth and with two.
TEST(Gemm, StartsAndEndsAsAsked) {
  for (const std::int64_t m : {1, 5, 12, 29})
    for (const std::int64_t n : {16, 48})
      for (const std::int64_t k : {0, 7, 300}) {
        const auto a = normal_values(m * k, 1), b = normal_values(k * n, 2);
        const auto bias = normal_values(n, 3), gate = normal_values(m * n, 4);
        const auto start = normal_values(m * n, 5);
        const auto product = [&](const ProductEnds& ends) {
          auto c = start;
          gemm(m, n, k, {a.data(), k, 1}, b.data(), c.data(), ends);
          return c;
        };
        auto expected = product({.bias = bias.data()});
        auto repeated = start;
        for (std::int64_t i = 0; i < m * n; ++i)
          repeated[static_cast<std::size_t>(i)] = bias[static_cast<std::size_t>(i % n)];
        gemm(m, n, k, {a.data(), k, 1}, b.data(), repeated.data(), /*accumulate=*/true);
        ASSERT_EQ(expected, repeated);

        for (auto& x : expected) x = std::max(x, 0.0F);
        ASSERT_EQ(product({.bias = bias.data(), .rectify = true}), expected);

        expected = product({.accumulate = true});
        for (std::size_t i = 0; i < expected.size(); ++i)
          if (gate[i] <= 0.0F) expected[i] = 0.0F;
        ASSERT_EQ(product({.accumulate = true, .gate = gate.data()}), expected);
      }
}

/// Padding comes out as zeros, or as what it was where sums are added to, without being computed.
TEST(Gemm, LeavesOutPadding) {
  for (const std::int64_t m : {1, 13, 40})
    for (const std::int64_t n : {16, 48})
      for (const std::int64_t padding : {1, 7, 8, 10, 15}) {
        const std::int64_t k = 30;
        const auto a = normal_values(m * k, 1), start = normal_values(m * n, 3);
        auto b = normal_values(k * n, 2), bias = normal_values(n, 4);
        for (std::int64_t i = 0; i < (k + 1) * n; ++i)
          if (i % n >= n - padding)
            (i < k * n ? b[static_cast<std::size_t>(i)]
                       : bias[static_cast<std::size_t>(i - k * n)]) = 0.0F;
        for (const bool accumulate : {false, true}) {
          ProductEnds ends{.accumulate = accumulate, .bias = accumulate ? nullptr : bias.data()};
          auto expected = start, c = start;
          gemm(m, n, k, {a.data(), k, 1}, b.data(), expected.data(), ends);
          ends.padding = padding;
          gemm(m, n, k, {a.data(), k, 1}, b.data(), c.data(), ends);
          ASSERT_EQ(c, expected);
        }
      }
}

/// To the bits of sum_rows, with rows of every remainder, more than one block of them, a padded
/// width and more than one pass over the depth.
TEST(Gemm, SumsTheRowsOfItsRightFactor) {
  for (const std::int64_t m : {1, 6, 12, 17, 48, 128, 400})
    for (const std::int64_t n : {16, 48, 128})
      for (const std::int64_t k : {1, 300})
        for (const std::int64_t padding : {0, 9})
          for (const bool accumulate : {false, true}) {
            const auto a = normal_values(m * k, 1);
            auto b = normal_values(k * n, 2);
            for (std::int64_t p = 0; p < k; ++p)
              std::fill_n(b.begin() + (p + 1) * n - padding, padding, 0.0F);
            auto expected = normal_values(n, 3), sums = expected;
            auto plain = normal_values(m * n, 4), c = plain;
            sum_rows(k, n, b.data(), expected.data(), accumulate);
            ProductEnds ends{.accumulate = accumulate, .padding = padding};
            gemm(m, n, k, {a.data(), 1, m}, b.data(), plain.data(), ends);
            ends.row_sums = sums.data();
            gemm(m, n, k, {a.data(), 1, m}, b.data(), c.data(), ends);
            ASSERT_EQ(sums, expected) << m << "x" << n << "x" << k << " padded by " << padding;
            ASSERT_EQ(c, plain) << m << "x" << n << "x" << k << " padded by " << padding;
          }
}

/// A row of a batch is the same bits as the row alone.
TEST(Gemm, DoesNotDependOnTheRowsAround) {
  const std::int64_t m = 53, n = 48, k = 300;
  const auto a = normal_values(m * k, 1), b = normal_values(k * n, 2), bias = normal_values(n, 3);
  std::vector<float> together(static_cast<std::size_t>(m * n)), alone(together.size());
  gemm(m, n, k, {a.data(), k, 1}, b.data(), together.data(), {.bias = bias.data()});
  for (std::int64_t i = 0; i < m; ++i)
    gemm(1, n, k, {a.data() + i * k, k, 1}, b.data(), alone.data() + i * n, {.bias = bias.data()});
  EXPECT_EQ(together, alone);
}

/// Widths on both sides of every edge of a tile, rows closer together and farther apart.
template <class T>
void expect_lower_triangles(std::int64_t lane, double tolerance) {
  for (const std::int64_t width : {1, 3, 8, 9, 15, 16, 17, 24, 30, 33, 40, 48, 49, 84, 88})
    for (const std::int64_t n : {1, 5, 128})
      for (const std::int64_t more : {std::int64_t{0}, lane})
        for (const bool accumulate : {false, true}) {
          const auto stride = padded(width, lane) + more;
          const auto values = normal_values(n * stride, 4),
                     start = normal_values(width * stride, 5);
          const std::vector<T> x(values.begin(), values.end());
          std::vector<T> c(start.begin(), start.end());
          gram(n, width, stride, x.data(), c.data(), accumulate);
          for (std::int64_t i = 0; i < width; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
              const auto at = static_cast<std::size_t>(i * stride + j);
              auto expected = accumulate ? static_cast<double>(start[at]) : 0.0;
              for (std::int64_t t = 0; t < n; ++t)
                expected += double{x[static_cast<std::size_t>(t * stride + i)]} *
                            double{x[static_cast<std::size_t>(t * stride + j)]};
              ASSERT_NEAR(c[at], expected, tolerance) << width << " at " << i << "," << j;
            }
        }
}

TEST(Gemm, GivesTheLowerTriangleOfAGramMatrix) {
  expect_lower_triangles<double>(kDoubleLane, 1e-11);
  expect_lower_triangles<float>(kLane, 1e-3);
}

/// In place: what is projected and where it goes lie in the same rows, and nothing else changes.
TEST(Gemm, ProjectsRows) {
  for (const std::int64_t n : {1, 11, 30})
    for (const std::int64_t inputs : {1, 17})
      for (const std::int64_t outputs : {8, 16, 24, 64}) {
        const auto stride = 2 + inputs + outputs + 3;
        const auto values = normal_values(n * stride, 1), w = normal_values(inputs * outputs, 2),
                   b = normal_values(outputs, 3);
        const std::vector<double> before(values.begin(), values.end()), weights(w.begin(), w.end()),
            bias(b.begin(), b.end());
        auto rows = before;
        project(n, inputs, outputs, stride, rows.data() + 2, weights.data(), bias.data(),
                rows.data() + 2 + inputs);
        for (std::int64_t t = 0; t < n; ++t)
          for (std::int64_t c = 0; c < stride; ++c) {
            const auto at = static_cast<std::size_t>(t * stride + c);
            auto expected = before[at];
            const auto j = c - 2 - inputs;
            if (j >= 0 && j < outputs) {
              expected = bias[static_cast<std::size_t>(j)];
              for (std::int64_t i = 0; i < inputs; ++i)
                expected += before[static_cast<std::size_t>(t * stride + 2 + i)] *
                            weights[static_cast<std::size_t>(i * outputs + j)];
            }
            ASSERT_NEAR(rows[at], expected, 1e-12) << n << " " << inputs << " " << outputs;
          }
      }
}

TEST(Gemm, PadsToWholeLanes) {
  EXPECT_EQ(padded(1), 16);
  EXPECT_EQ(padded(16), 16);
  EXPECT_EQ(padded(17), 32);
  EXPECT_EQ(padded(17, kDoubleLane), 24);
}

}  // namespace
}  // namespace kindred
