// Ways through the plane of path-following.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/render/drawings.h"

namespace kindred {
namespace {

using kindred::testing::complaint;
using kindred::testing::Drawn;
using kindred::testing::one_episode;
using ::testing::Contains;
using ::testing::ElementsAre;

/// Straight from (-1, -1) to (1, 1) in 21 positions, pushed up and right all the way.
Trajectories straight_path() {
  std::vector<float> rows;
  for (int i = 0; i <= 20; ++i) {
    const float at = -1.0f + 0.1f * static_cast<float>(i);
    rows.insert(rows.end(), {at, at, 0.1f, 0.1f, 1.0f, 1.0f});
  }
  auto data = one_episode(rows, 6);
  data.actions = Actions::continuous(std::vector<float>(42, 1.0f), 2);
  data.provenance["environment"] = "path-following";
  return data;
}

TEST(PathDrawing, ShowsTheWayInThePlane) {
  const Drawn drawn(draw_trajectory(straight_path(), 0));
  EXPECT_EQ(drawn.of("way").size(), 21u);
  EXPECT_EQ(drawn.of("reference").size(), 2u);
  EXPECT_EQ(drawn.of("force").size(), 21u);
  EXPECT_THAT(drawn.texts("x-tick"), ElementsAre("-1.0", "-0.5", "0.0", "0.5", "1.0"));
  EXPECT_THAT(drawn.texts("y-tick"), ElementsAre("-1.0", "-0.5", "0.0", "0.5", "1.0"));
  ASSERT_EQ(drawn.of("start").size(), 1u);
  const auto start = drawn.of("start")[0];
  const auto ticks = drawn.of("x-tick");
  EXPECT_NEAR(start.number("cx"), ticks[0].number("x"), 0.11) << "x = -1";
  EXPECT_THAT(drawn.legend(), Contains("reference routes"));
}

TEST(PathDrawing, WidensToHoldTheWholeWay) {
  auto data = straight_path();
  std::vector<float> rows(data.observations.floats().begin(), data.observations.floats().end());
  rows[0] = -3.0f;
  data.observations = Observations::dense(rows, 6);
  const Drawn drawn(draw_trajectory(data, 0));
  EXPECT_THAT(drawn.texts("x-tick"), Contains("-3.0"));
}

TEST(PathDrawing, NeedsPositionsAndForces) {
  RenderOptions options;
  options.as = Drawing::kPath;
  EXPECT_THAT(complaint([&] {
                draw_trajectory(one_episode({1.0f, 2.0f}, 1), 0, options);
              }),
              ::testing::HasSubstr("episode 0 is not a path through the plane"));
  auto data = straight_path();
  data.provenance.clear();
  EXPECT_EQ(choose_drawing(data, 0), Drawing::kCurves);
  EXPECT_EQ(Drawn(draw_trajectory(data, 0, options)).of("way").size(), 21u);
}

}  // namespace
}  // namespace kindred
