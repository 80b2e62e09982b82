// What every picture keeps to, which episodes stand for all, and bad input.
#include "kindred/render/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kindred/data/select.h"
#include "tests/render/drawings.h"

namespace kindred {
namespace {

using kindred::testing::complaint;
using kindred::testing::Drawn;
using kindred::testing::one_episode;
using kindred::testing::walk;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Trajectories some_walk() {
  return walk({{1, 1}, {1, 2}, {2, 2}}, {Move::kRight, Move::kDown, Move::kDown});
}

/// One picture of every kind.
std::vector<std::pair<std::string, std::string>> one_of_each(bool dark = false) {
  RenderOptions plain, frames, curves;
  plain.dark = frames.dark = curves.dark = dark;
  frames.frames = true;
  curves.as = Drawing::kCurves;
  auto path = one_episode(std::vector<float>(60, 0.5f), 6);
  path.actions = Actions::continuous(std::vector<float>(20, 0.5f), 2);
  path.provenance["environment"] = "path-following";
  return {{"grid", draw_trajectory(some_walk(), 0, plain)},
          {"frames", draw_trajectory(some_walk(), 0, frames)},
          {"path", draw_trajectory(path, 0, plain)},
          {"curves", draw_trajectory(some_walk(), 0, curves)}};
}

TEST(EveryPicture, HasReadableTextWithinItsBorders) {
  for (const auto& [name, svg] : one_of_each()) {
    const Drawn drawn(svg);
    const double width = drawn.root().DoubleAttribute("width");
    const double height = drawn.root().DoubleAttribute("height");
    EXPECT_EQ(std::string(drawn.root().Attribute("viewBox")),
              fmt::format("0 0 {:.0f} {:.0f}", width, height));
    for (const auto& element : drawn.elements()) {
      if (element.name != "text") continue;
      EXPECT_GE(element.number("font-size"), 12.0) << name << ": " << element.text;
      EXPECT_GE(element.number("x"), 0.0) << name << ": " << element.text;
      EXPECT_LE(element.number("x"), width) << name << ": " << element.text;
      EXPECT_LE(element.number("y"), height) << name << ": " << element.text;
    }
  }
}

TEST(EveryPicture, IsTheSameEveryTime) { EXPECT_EQ(one_of_each(), one_of_each()); }

TEST(EveryPicture, CanBeDark) {
  const auto light = one_of_each(), dark = one_of_each(true);
  for (std::size_t i = 0; i < light.size(); ++i) {
    EXPECT_THAT(light[i].second, HasSubstr("#ffffff"));
    EXPECT_THAT(dark[i].second, ::testing::Not(HasSubstr("#ffffff")));
  }
}

TEST(EveryPicture, IsTheSameForInternedObservations) {
  auto data = some_walk();
  const auto dense = draw_trajectory(data, 0);
  data.observations =
      Observations::interned(data.observations.floats(), 243, std::vector<std::int32_t>{0, 1, 2});
  EXPECT_EQ(draw_trajectory(data, 0), dense);
}

TEST(Headings, SayWhatTheEpisodeIs) {
  auto data = some_walk();
  data.ids = {"demo_7"};
  data.rewards = std::vector<float>{1.0f, 0.25f, 1.25f};
  data.labels = std::vector<std::int32_t>{1};
  data.label_names = {"a", "zigzag"};
  const Drawn drawn(draw_trajectory(data, 0));
  EXPECT_THAT(drawn.texts(), Contains("Episode 0 (demo_7) · zigzag"));
  EXPECT_THAT(drawn.texts(), Contains("3 steps · return 2.5"));
  data.label_names = {};
  EXPECT_THAT(Drawn(draw_trajectory(data, 0)).texts(), Contains("Episode 0 (demo_7) · policy 1"));
}

TEST(Headings, EscapeAndShortenForeignText) {
  auto data = some_walk();
  data.ids = {"<script>&\x01\xff" + std::string(500, 'x')};
  const Drawn drawn(draw_trajectory(data, 0));
  EXPECT_THAT(drawn.texts(),
              Contains(::testing::AllOf(HasSubstr("<script>&"), ::testing::EndsWith("…"))));
}

TEST(Headings, NameTheClusterFound) {
  auto data = some_walk();
  RenderOptions options;
  options.clusters = {3};
  EXPECT_THAT(Drawn(draw_trajectory(data, 0, options)).texts(), Contains("cluster 3"));
}

TEST(SeveralEpisodes, StandSideBySideInRows) {
  const std::vector<std::int64_t> copies = {0, 0, 0, 0, 0};
  const auto data = select_episodes(some_walk(), copies);
  const std::vector<std::int64_t> episodes = {4, 2, 0, 1};
  const auto panels = Drawn(draw_trajectories(data, episodes)).of("start");
  ASSERT_EQ(panels.size(), 4u);
  EXPECT_EQ(panels[0].number("cy"), panels[2].number("cy"));
  EXPECT_LT(panels[0].number("cx"), panels[1].number("cx"));
  EXPECT_LT(panels[0].number("cy"), panels[3].number("cy")) << "a second row";
  EXPECT_EQ(panels[0].number("cx"), panels[3].number("cx"));
}

TEST(SeveralEpisodes, ComeInTheOrderNamed) {
  const std::vector<std::int64_t> twice = {0, 0}, reversed = {1, 0};
  const auto data = select_episodes(some_walk(), twice);
  const Drawn drawn(draw_trajectories(data, reversed));
  ASSERT_EQ(drawn.of("episode").size(), 2u);
  EXPECT_EQ(drawn.of("episode")[0].title, "Episode 1 (0)");
  EXPECT_EQ(drawn.of("episode")[1].title, "Episode 0");
}

TEST(RepresentativeEpisodes, ShowEveryGroup) {
  const std::vector<std::int32_t> groups = {2, 2, 2, 0, 0, 1};
  EXPECT_THAT(representative_episodes(6, groups, 3), ElementsAre(3, 5, 0));
  EXPECT_THAT(representative_episodes(6, groups, 5), ElementsAre(3, 4, 5, 0, 1));
  EXPECT_THAT(representative_episodes(6, groups, 100), ElementsAre(3, 4, 5, 0, 1, 2));
  EXPECT_THAT(representative_episodes(6, groups, 1), ElementsAre(3));
  EXPECT_THAT(representative_episodes(6, {}, 2), ElementsAre(0, 1));
}

TEST(ChooseDrawing, FollowsTheData) {
  EXPECT_EQ(choose_drawing(some_walk(), 0), Drawing::kGrid);
  EXPECT_EQ(choose_drawing(one_episode({0.1f, 0.2f}, 2), 0), Drawing::kCurves);
  auto other_actions = some_walk();
  const auto steps = static_cast<std::size_t>(other_actions.steps());
  other_actions.actions = Actions::discrete(std::vector<std::int32_t>(steps, 7), 8);
  EXPECT_EQ(choose_drawing(other_actions, 0), Drawing::kCurves);
  auto misleading = one_episode({0.1f, 0.2f}, 2);
  misleading.provenance = {{"environment", "path-following"}, {"source", 7}};
  EXPECT_EQ(choose_drawing(misleading, 0), Drawing::kCurves);
  EXPECT_EQ(name_of(Drawing::kGrid), "grid");
}

TEST(BadInput, EndsInOneSentence) {
  const auto data = some_walk();
  EXPECT_EQ(complaint([&] { draw_trajectory(data, 1); }),
            "there is no episode 1; the dataset holds episodes 0 to 0");
  EXPECT_THAT(complaint([&] { draw_trajectory(data, -1); }), HasSubstr("no episode -1"));
  EXPECT_THAT(complaint([&] { draw_trajectories(data, {}); }), HasSubstr("no episode to draw"));

  RenderOptions frames;
  frames.frames = true;
  const auto vector = one_episode({0.1f, 0.2f}, 2);
  EXPECT_THAT(complaint([&] { draw_trajectory(vector, 0, frames); }),
              HasSubstr("frames can be drawn of gridworlds only"));
  RenderOptions dimensions;
  dimensions.dimensions = {1};
  EXPECT_THAT(complaint([&] { draw_trajectory(data, 0, dimensions); }),
              HasSubstr("for curves only"));
  RenderOptions clusters;
  clusters.clusters = {0, 1};
  EXPECT_THAT(complaint([&] { draw_trajectory(data, 0, clusters); }),
              HasSubstr("clusters of 2 episodes"));
}

TEST(BadInput, NumbersThatAreNotFiniteAreNotDrawn) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_THAT(complaint([&] {
                draw_trajectory(one_episode({1.0f, inf}, 1), 0);
              }),
              HasSubstr("not a finite number"));
}

TEST(Render, LeavesOutReturnsThatAreNotNumbers) {
  auto data = one_episode({1.0f}, 1);
  data.rewards = std::vector<float>{2.0f};
  EXPECT_THAT(draw_trajectory(data, 0), AllOf(HasSubstr("return 2"), HasSubstr("return so far")));
  data.rewards = std::vector<float>{std::nanf("")};
  EXPECT_THAT(draw_trajectory(data, 0), Not(AnyOf(HasSubstr("return"), HasSubstr("nan"))));
}

}  // namespace
}  // namespace kindred
