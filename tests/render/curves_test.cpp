// Observations, return and actions over time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "kindred/data/formats.h"
#include "kindred/render/dimension_names.h"
#include "tests/render/drawings.h"

namespace kindred {
namespace {

using kindred::testing::complaint;
using kindred::testing::Drawn;
using kindred::testing::one_episode;
using kindred::testing::terminate;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

/// 101 steps of `dim` numbers, dimension d growing from 0 to 10 (d + 1); a reward of 2 each.
Trajectories growing(std::int64_t dim) {
  std::vector<float> rows, forces;
  for (int step = 0; step <= 100; ++step) {
    for (std::int64_t d = 0; d < dim; ++d)
      rows.push_back(0.1f * static_cast<float>(step) * static_cast<float>(d + 1));
    forces.push_back(step % 2 == 0 ? -1.0f : 1.0f);
  }
  auto data = one_episode(rows, dim);
  data.actions = Actions::continuous(forces, 1);
  data.rewards = std::vector<float>(101, 2.0f);
  return data;
}

std::vector<std::string> plot_names(const Drawn& drawn) {
  std::vector<std::string> names;
  for (const auto& plot : drawn.of("plot")) names.push_back(plot.title);
  return names;
}

TEST(Curves, ShowEveryDimensionTheReturnAndTheActions) {
  const Drawn drawn(draw_trajectory(growing(2), 0));
  EXPECT_THAT(plot_names(drawn),
              ElementsAre("observation 0", "observation 1", "return so far", "action 0"));
  EXPECT_EQ(drawn.of("curve").size(), 4u);
  EXPECT_THAT(drawn.texts("x-tick"), IsSupersetOf({"0", "20", "40", "60", "80", "100"}));
  EXPECT_THAT(drawn.texts("y-tick"), IsSupersetOf({"0", "5", "10", "100", "200", "-1", "1"}));
}

TEST(Curves, PutValuesWhereTheTicksSay) {
  const Drawn drawn(draw_trajectory(growing(1), 0));
  std::istringstream points(drawn.of("curve")[0].attributes.at("points"));
  double x = 0.0, y = 0.0, last_x = 0.0, last_y = 0.0;
  points >> x >> y;
  while (points >> last_x >> last_y) {
  }
  const auto x_ticks = drawn.of("x-tick"), y_ticks = drawn.of("y-tick");
  EXPECT_NEAR(x, x_ticks[0].number("x"), 0.11);             // step 0
  EXPECT_NEAR(last_x, x_ticks[5].number("x"), 0.11);        // step 100
  EXPECT_NEAR(y, y_ticks[0].number("y") - 4.0, 0.11);       // the value 0
  EXPECT_NEAR(last_y, y_ticks[2].number("y") - 4.0, 0.11);  // the value 10
}

TEST(Curves, KeepTheExtremesOfLongEpisodes) {
  std::vector<float> rows(50'000, 0.0f);
  rows[31'417] = 1.0f;
  auto data = one_episode(rows, 1);
  const std::string svg = draw_trajectory(data, 0);
  EXPECT_LT(svg.size(), 40'000u);
  const Drawn drawn(svg);
  std::istringstream points(drawn.of("curve")[0].attributes.at("points"));
  double least = 1e9;
  for (double x = 0.0, y = 0.0; points >> x >> y;) least = std::min(least, y);
  EXPECT_THAT(drawn.texts("y-tick"), Contains("1.0"));
  EXPECT_NEAR(least, drawn.of("y-tick")[2].number("y") - 4.0, 0.11) << "the one peak";
}

TEST(Curves, ShowTwelveDimensionsOrThoseAskedFor) {
  const auto data = growing(30);
  const Drawn drawn(draw_trajectory(data, 0));
  EXPECT_EQ(drawn.of("plot").size(), 12u + 1u + 1u);
  EXPECT_THAT(drawn.legend(), Contains("12 of 30 dimensions of the observation"));
  RenderOptions options;
  options.dimensions = {29, 3};
  EXPECT_THAT(plot_names(Drawn(draw_trajectory(data, 0, options))),
              ElementsAre("observation 29", "observation 3", "return so far", "action 0"));
  options.dimensions = {30};
  EXPECT_EQ(complaint([&] { draw_trajectory(data, 0, options); }),
            "there is no dimension 30; observations have dimensions 0 to 29");
}

TEST(Curves, MarkHowTheEpisodeEnded) {
  auto data = growing(1);
  EXPECT_EQ(Drawn(draw_trajectory(data, 0)).of("terminal").size(), 0u);
  terminate(data);
  const Drawn ended(draw_trajectory(data, 0));
  EXPECT_EQ(ended.of("terminal").size(), 3u) << "on every curve";
  EXPECT_THAT(ended.legend(), Contains("terminated"));
  EXPECT_THAT(ended.texts(), Contains("101 steps · return 202 · terminated"));
  data.timeouts = data.terminals;
  data.terminals = {};
  EXPECT_EQ(Drawn(draw_trajectory(data, 0)).of("timeout").size(), 3u);
}

TEST(Curves, HoldDiscreteActionsUntilTheNext) {
  auto data = one_episode({0.0f, 0.5f, 1.0f}, 1);
  data.actions = Actions::discrete(std::vector<std::int32_t>{0, 2, 2}, 3);
  const Drawn drawn(draw_trajectory(data, 0));
  std::istringstream points(drawn.of("curve")[1].attributes.at("points"));
  double previous_x = 0.0, previous_y = 0.0;
  points >> previous_x >> previous_y;
  for (double x = 0.0, y = 0.0; points >> x >> y; previous_x = x, previous_y = y)
    EXPECT_TRUE(x == previous_x || y == previous_y) << "only level and upright lines";
}

TEST(Curves, DrawConstantAndSingleValues) {
  const Drawn drawn(draw_trajectory(one_episode({7.0f}, 1), 0));
  EXPECT_EQ(drawn.of("curve").size(), 2u);
  EXPECT_THAT(drawn.texts("y-tick"), Contains("7.0"));
}

TEST(Curves, ShareTheScaleOfSeveralEpisodes) {
  auto data = growing(1);
  data.offsets = std::vector<std::int64_t>{0, 20, 101};
  data.ids = {"0", "1"};
  data.labels = std::vector<std::int32_t>{1, 0};
  data.label_names = {"low", "high"};
  const std::vector<std::int64_t> both = {0, 1};
  const Drawn drawn(draw_trajectories(data, both));
  const auto ticks = drawn.of("y-tick");
  std::vector<std::string> first, second;
  for (const auto& tick : ticks)
    (tick.number("x") < ticks.back().number("x") ? first : second).push_back(tick.text);
  EXPECT_EQ(first, second);
  EXPECT_THAT(drawn.legend(), IsSupersetOf({"low", "high"}));
}

TEST(DimensionNames, FollowTheObservationsOfTheWalkers) {
  using render::action_name, render::observation_name;
  EXPECT_EQ(observation_name("hopper", 11, 0), "torso height (m)");
  EXPECT_EQ(observation_name("hopper", 11, 4), "foot angle (rad)");
  EXPECT_EQ(observation_name("hopper", 11, 5), "forward velocity (m/s)");
  EXPECT_EQ(observation_name("hopper", 11, 10), "foot rate (rad/s)");
  EXPECT_EQ(observation_name("walker2d", 17, 5), "left thigh angle (rad)");
  EXPECT_EQ(observation_name("halfcheetah", 17, 8), "forward velocity (m/s)");
  EXPECT_EQ(observation_name("halfcheetah", 17, 16), "front foot rate (rad/s)");
  EXPECT_EQ(observation_name("ant", 27, 12), "back right ankle angle (rad)");
  EXPECT_EQ(observation_name("ant", 111, 26), "back right ankle rate (rad/s)");
  EXPECT_EQ(observation_name("ant", 111, 27), "observation 27");
  EXPECT_EQ(observation_name("hopper", 12, 0), "observation 0") << "some other hopper";
  EXPECT_EQ(action_name("ant", 8, 0), "back right hip torque");
  EXPECT_EQ(action_name("hopper", 3, 2), "foot torque");
  EXPECT_EQ(action_name("", 3, 2), "action 2");
}

TEST(DimensionNames, AreChosenByTheNameOfTheFile) {
  EXPECT_EQ(render::environment_in("data/hopper-medium-v2.hdf5"), "hopper");
  EXPECT_EQ(render::environment_in("/x/ant/data.hdf5"), "ant");
  EXPECT_EQ(render::environment_in("giant-elephants.hdf5"), "");
  EXPECT_EQ(render::environment_in(""), "");
}

TEST(Curves, NameTheDimensionsOfRealFiles) {
  const auto file = std::filesystem::path(KINDRED_SHARED_DATA) / "mujoco/hopper-medium-expert.hdf5";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "*** NOT TESTED: there is no " << file;
  const Drawn drawn(draw_trajectory(read_trajectories(file), 0));
  EXPECT_THAT(plot_names(drawn), IsSupersetOf({"torso height (m)", "foot torque"}));
  EXPECT_EQ(drawn.of("plot").size(), 11u + 1u + 3u);
}

}  // namespace
}  // namespace kindred
