// The axes of rows whose variance is known.
#include "kindred/findings/principal_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kindred::findings {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

Matrix rows_of(std::initializer_list<std::initializer_list<double>> rows) {
  Matrix result(static_cast<std::int64_t>(rows.size()),
                static_cast<std::int64_t>(rows.begin()->size()));
  result.values.clear();
  for (const auto& row : rows) result.values.insert(result.values.end(), row);
  return result;
}

TEST(PrincipalAxes, AreThoseOfMostVarianceFirst) {
  // Along (3, 4, 0) by 5 either way, along (-4, 3, 0) by 2, along (0, 0, 1) by 1.
  const auto axes = principal_axes(rows_of({{3.0, 4.0, 0.0},
                                            {-3.0, -4.0, 0.0},
                                            {-1.6, 1.2, 0.0},
                                            {1.6, -1.2, 0.0},
                                            {0.0, 0.0, 1.0},
                                            {0.0, 0.0, -1.0}}),
                                   2);
  EXPECT_THAT(axes.shares, ElementsAre(DoubleNear(25.0 / 30, 1e-9), DoubleNear(4.0 / 30, 1e-9)));
  EXPECT_THAT(axes.directions.values,
              ElementsAre(DoubleNear(0.6, 1e-9), DoubleNear(0.8, 1e-9), DoubleNear(0.0, 1e-9),
                          DoubleNear(0.8, 1e-9), DoubleNear(-0.6, 1e-9), DoubleNear(0.0, 1e-9)));
}

TEST(PrincipalAxes, PointTheSameWayWhicheverWayTheRowsDo) {
  const auto there = rows_of({{1.0, -5.0, 0.5}, {-2.0, 3.0, 1.5}, {1.0, 2.0, -2.0}});
  auto back = there;
  for (auto& value : back.values) value = -value;
  const auto axes = principal_axes(there, 2);
  EXPECT_EQ(axes.directions.values, principal_axes(back, 2).directions.values);
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto [least, most] = std::ranges::minmax(axes.directions.row(i));
    EXPECT_GT(most, -least);
  }
}

TEST(PrincipalAxes, OfNothingThatVariesExplainNothing) {
  EXPECT_THAT(principal_axes(Matrix(4, 3), 2).shares, ElementsAre(0.0, 0.0));
}

// Power iteration would need far more than a few hundred rounds to tell these two apart.
TEST(PrincipalAxes, TellNearlyEqualVariancesApart) {
  const double more = 1.0 + 1e-6;
  const auto axes = principal_axes(
      rows_of({{more, 0.0, 0.0}, {-more, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, -1.0, 0.0}}), 2);
  EXPECT_THAT(axes.directions.values,
              ElementsAre(DoubleNear(1.0, 1e-9), DoubleNear(0.0, 1e-9), DoubleNear(0.0, 1e-9),
                          DoubleNear(0.0, 1e-9), DoubleNear(1.0, 1e-9), DoubleNear(0.0, 1e-9)));
}

}  // namespace
}  // namespace kindred::findings
