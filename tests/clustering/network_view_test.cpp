#include "kindred/clustering/network_view.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

Actions actions(std::vector<float> values, std::int64_t dim) {
  return Actions::continuous(Column<float>(std::move(values)), dim);
}

TEST(NetworkActions, AreInDeviationsFromTheirMean) {
  const auto units = NetworkActions::standardised(actions({1, 100, 3, 300, 1, 100, 3, 300}, 2));
  EXPECT_EQ(units.mean, (std::vector<float>{2, 200}));
  EXPECT_EQ(units.deviation, (std::vector<float>{1, 100}));
  std::vector<float> out(2);
  units.apply(std::vector<float>{4, 50}, out);
  EXPECT_EQ(out, (std::vector<float>{2, -1.5F}));
  std::vector<float> restored(4);
  units.restore(std::vector<float>{2, -1.5F, 0.5F, 0.1F}, restored);
  EXPECT_EQ(restored, (std::vector<float>{4, 50, 0.5F, 10}));
}

/// Where an action never varies there is nothing to predict, whatever its size.
TEST(NetworkActions, ThatNeverVaryAreLeftOut) {
  for (const float constant : {0.0F, 0.1F, -3e7F}) {
    const auto units = NetworkActions::standardised(actions({constant, 1, constant, 3}, 2));
    EXPECT_EQ(units.deviation[0], 0.0F);
    ASSERT_EQ(units.predicted(2), 1);
    std::vector<float> out(1), restored(4);
    units.apply(std::vector<float>{9, 3}, out);
    EXPECT_EQ(out[0], 1.0F);
    units.restore(std::vector<float>{1, 0.5F}, restored);
    EXPECT_EQ(restored, (std::vector<float>{constant, 3, 0, 0.5F}));
  }
  EXPECT_EQ(NetworkActions::standardised(actions({5, 7, 5, 7}, 2)).predicted(2), 1);
  // Small is not the same as constant.
  EXPECT_EQ(NetworkActions::standardised(actions({1e-9F, 1, 3e-9F, 3}, 2)).predicted(2), 2);
}

TEST(NetworkActions, AreTakenAsTheyAreUnlessScaled) {
  const auto discrete =
      Actions::discrete(Column<std::int32_t>(std::vector<std::int32_t>{0, 1, 2}), 3);
  EXPECT_TRUE(NetworkActions::standardised(discrete).as_they_are());
  std::vector<float> out(2);
  NetworkActions().apply(std::vector<float>{4, 50}, out);
  EXPECT_EQ(out, (std::vector<float>{4, 50}));
  EXPECT_EQ(NetworkActions().predicted(2), 2);
}

}  // namespace
}  // namespace kindred
