#include "kindred/segments/unsure.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

namespace kindred {
namespace {

using testing::ElementsAre;

/// Posteriors of three policies: a row each.
Matrix rows(const std::vector<std::array<double, 3>>& values) {
  Matrix matrix(std::ssize(values), 3);
  for (std::size_t t = 0; t < values.size(); ++t)
    std::ranges::copy(values[t], matrix.values.begin() + static_cast<std::ptrdiff_t>(3 * t));
  return matrix;
}

std::vector<std::int32_t> policies(const UnsureStretch& stretch) {
  std::vector<std::int32_t> result;
  for (const auto& one : stretch.candidates) result.push_back(one.policy);
  return result;
}

TEST(Unsure, StretchesNameWhoMayHaveActed) {
  const auto chance =
      rows({{0.95, 0.04, 0.01}, {0.80, 0.19, 0.01}, {0.60, 0.39, 0.01}, {0.92, 0.07, 0.01}});
  const std::vector<std::int32_t> named{0, 0, 0, 0};
  const auto found = unsure_stretches(chance, named, std::vector<std::int64_t>{0, 4});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].begin, 1);
  EXPECT_EQ(found[0].end, 3);
  EXPECT_THAT(policies(found[0]), ElementsAre(0, 1));  // these two are enough for 90 %
  EXPECT_NEAR(found[0].candidates[1].chance, 0.29, 1e-12);
}

TEST(Unsure, SaysSinceWhenSomebodyMayHaveActed) {
  const auto chance =
      rows({{0.995, 0.005, 0.0}, {0.97, 0.03, 0.0}, {0.94, 0.06, 0.0}, {0.88, 0.12, 0.0}});
  const auto found =
      unsure_stretches(chance, std::vector<std::int32_t>(4, 0), std::vector<std::int64_t>{0, 4});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].begin, 3);
  ASSERT_THAT(policies(found[0]), ElementsAre(0, 1));
  EXPECT_EQ(found[0].candidates[0].first, 0);
  EXPECT_EQ(found[0].candidates[1].first, 1);
  EXPECT_EQ(found[0].candidates[1].end, 4);
}

TEST(Unsure, EndsWithTheEpisodeAndGoesOnAcrossASwitch) {
  const auto chance = rows({{0.7, 0.25, 0.05}, {0.25, 0.7, 0.05}, {0.05, 0.3, 0.65}});
  const std::vector<std::int32_t> named{0, 1, 2};
  const auto found = unsure_stretches(chance, named, std::vector<std::int64_t>{0, 2, 3});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].episode, 0);
  EXPECT_EQ(found[0].end, 2);
  EXPECT_THAT(policies(found[0]), ElementsAre(0, 1));
  EXPECT_EQ(found[1].episode, 1);
  EXPECT_EQ(found[1].begin, 0);
  EXPECT_THAT(policies(found[1]), ElementsAre(2, 1));
}

TEST(Unsure, WhereEverythingIsClearThereIsNone) {
  const auto chance = rows({{0.99, 0.01, 0.0}, {0.0, 0.0, 1.0}});
  EXPECT_TRUE(
      unsure_stretches(chance, std::vector<std::int32_t>{0, 2}, std::vector<std::int64_t>{0, 2})
          .empty());
}

}  // namespace
}  // namespace kindred
