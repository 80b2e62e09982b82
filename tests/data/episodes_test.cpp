#include "kindred/data/episodes.h"

#include "test_files.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using Flags = std::vector<std::uint8_t>;

TEST(CutEpisodes, EndsAfterEitherFlag) {
  EXPECT_THAT(cut_episodes(6, Flags{0, 1, 0, 0, 0, 1}, Flags{0, 0, 0, 1, 0, 1}, 2, true),
              ElementsAre(0, 2, 4, 6));
}

TEST(CutEpisodes, UsesTheCapOnlyWithoutTimeouts) {
  EXPECT_THAT(cut_episodes(5, Flags{0, 0, 1, 0, 0}, {}, 2, true), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(cut_episodes(5, Flags(5, 0), Flags(5, 0), 2, true), ElementsAre(0, 5));
}

TEST(CutEpisodes, KeepsOrDropsTheRest) {
  EXPECT_THAT(cut_episodes(5, Flags{0, 1, 0, 0, 0}, Flags(5, 0), 9, true), ElementsAre(0, 2, 5));
  EXPECT_THAT(cut_episodes(5, Flags{0, 1, 0, 0, 0}, Flags(5, 0), 9, false), ElementsAre(0, 2));
  EXPECT_THAT(cut_episodes(5, Flags(5, 0), Flags(5, 0), 9, false), ElementsAre(0));
}

TEST(CutIntoEpisodes, DropsColumnsBeyondTheLastEpisode) {
  Trajectories flat;
  flat.observations = Observations::dense(std::vector<float>{1, 2, 3, 4, 5, 6}, 2);
  flat.actions = Actions::discrete(std::vector<std::int32_t>{0, 1, 0}, 2);
  flat.rewards = std::vector<float>{1, 2, 3};
  flat.terminals = Flags{0, 1, 0};
  flat.timeouts = Flags{0, 0, 0};
  ReadOptions options;
  options.keep_partial = false;
  auto data = cut_into_episodes(flat, options, "'x'");
  set_labels(data, FoundLabels{{4, 4, 5}, {}}, "'x'");
  data.validate("cut");
  EXPECT_EQ(data.steps(), 2);
  EXPECT_THAT(testing::to_vector(data.labels), ElementsAre(4));
  EXPECT_THAT(data.ids, ElementsAre("0"));

  options.keep_partial = true;
  auto mixed = cut_into_episodes(flat, options, "'x'");
  EXPECT_EQ(mixed.steps(), 3);
  set_labels(mixed, FoundLabels{{4, -1, 5}, {}}, "'x'");
  EXPECT_TRUE(mixed.labels.empty() && mixed.actors.empty());
  EXPECT_THAT(mixed.provenance["labels"].get<std::string>(), HasSubstr("change within an episode"));

  set_labels(mixed, FoundLabels{{4, 3, 5}, {}}, "'x'");
  mixed.validate("mixed");
  EXPECT_THAT(testing::to_vector(mixed.actors), ElementsAre(4, 3, 5));
  EXPECT_EQ(mixed.labels.size(), 2);

  options.keep_partial = false;
  flat.terminals = Flags{0, 0, 0};
  EXPECT_THAT(error_of<DataFormatError>([&] { cut_into_episodes(flat, options, "'x'"); }),
              HasSubstr("none of its 3 rows ends an episode"));
}

TEST(SetLabels, IgnoresWhatIsNoLabel) {
  Trajectories data;
  set_labels(data, std::vector<std::int64_t>{0, -2});
  EXPECT_TRUE(data.labels.empty());
  set_labels(data, std::vector<std::int64_t>{-1, -1});
  EXPECT_TRUE(data.labels.empty());
  set_labels(data, std::vector<std::int64_t>{0, std::int64_t{1} << 40});
  EXPECT_TRUE(data.labels.empty());
  set_labels(data, std::vector<std::int64_t>{3, 1});
  EXPECT_THAT(testing::to_vector(data.labels), ElementsAre(3, 1));
}

TEST(SetLabels, TakesTextsAndUnknownOnes) {
  auto data = testing::make_trajectories({.labels = false, .episodes = 3});
  set_labels(data, FoundLabels{{}, {"tim", "", "ann"}}, "'x'");
  EXPECT_THAT(testing::to_vector(data.labels), ElementsAre(1, -1, 0));
  EXPECT_THAT(data.label_names, ElementsAre("ann", "tim"));
  EXPECT_THAT(error_of<DataFormatError>([&] {
                set_labels(data, FoundLabels{{0, 1}, {}}, "'x' array 'who'");
              }),
              HasSubstr("'x' array 'who' has 2 labels, expected one for each of 3 episodes"));
}

TEST(EndFlags, MarkEveryEnd) {
  auto data = testing::make_trajectories();
  data.terminals = {};
  data.timeouts = {};
  const auto flags = end_flags(data, "D4RL");
  EXPECT_THAT(cut_episodes(data.steps(), flags.terminals, flags.timeouts, 1, true),
              ::testing::ElementsAreArray(testing::to_vector(data.offsets)));
  Flags early(static_cast<std::size_t>(data.steps()), 0);
  early[1] = 1;
  data.terminals = early;
  EXPECT_THAT(error_of<DataFormatError>([&] { end_flags(data, "D4RL"); }),
              HasSubstr("has an end flag at its step 1 of 3, where D4RL would cut it"));
}

}  // namespace
}  // namespace kindred
