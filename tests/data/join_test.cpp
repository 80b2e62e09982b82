#include "kindred/data/join.h"

#include "test_files.h"

namespace kindred::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kNames{"some/a.h5", "some/b.h5"};

TEST(JoinEpisodes, PutsThemOneAfterTheOther) {
  const auto first = make_trajectories({.episodes = 2}),
             second = make_trajectories({.interned = true, .episodes = 3});
  const auto data = join_episodes({first, second}, kNames);
  data.validate("joined");
  EXPECT_EQ(data.episodes(), 5);
  EXPECT_EQ(data.length(3), second.length(1));
  auto rows = expanded(first.observations);
  const auto more = expanded(second.observations);
  rows.insert(rows.end(), more.begin(), more.end());
  EXPECT_EQ(expanded(data.observations), rows);
  EXPECT_EQ(data.rewards.size(), data.steps());
  EXPECT_THAT(data.ids, ElementsAre("a/run \"0\"", "a/run \"1\"", "b/run \"0\"", "b/run \"1\"",
                                    "b/run \"2\""));
  EXPECT_THAT(data.label_names, ElementsAre("left", "right", "ü"));
  EXPECT_THAT(to_vector(data.labels), ElementsAre(0, 1, 0, 1, 2));
}

TEST(JoinEpisodes, KeepsWhoActedWhen) {
  auto part = make_trajectories();
  part.label_names = {};
  part.actors = std::vector<std::int32_t>(static_cast<std::size_t>(part.steps()), 1);
  const auto steps = part.steps();
  const auto both = join_episodes({part, part}, kNames);
  both.validate("both");
  EXPECT_EQ(both.actors.size(), 2 * steps);
  auto unknown = part;
  unknown.actors = {};
  EXPECT_TRUE(join_episodes({part, unknown}, kNames).actors.empty());
}

TEST(JoinEpisodes, KeepsIdsThatDiffer) {
  auto first = make_trajectories({.episodes = 1}), second = first;
  first.ids = {"x"};
  second.ids = {"y"};
  EXPECT_THAT(join_episodes({first, second}, kNames).ids, ElementsAre("x", "y"));
  second.ids = {"x"};
  const std::vector<std::string> same{"1/data.h5", "2/data.h5"};
  EXPECT_THAT(join_episodes({first, second}, same).ids, ElementsAre("1/data.h5/x", "2/data.h5/x"));
}

TEST(JoinEpisodes, LabelsOfOneAreUnknownInTheOther) {
  auto first = make_trajectories({.episodes = 1}),
       second = make_trajectories({.labels = false, .episodes = 1});
  EXPECT_THAT(to_vector(join_episodes({first, second}, kNames).labels), ElementsAre(0, -1));
  second.labels = std::vector<std::int32_t>{0};
  second.label_names = {"another"};
  const auto data = join_episodes({first, second}, kNames);
  EXPECT_THAT(data.label_names, ElementsAre("another", "left"));
  EXPECT_THAT(to_vector(data.labels), ElementsAre(1, 0));
  second.rewards = {};
  EXPECT_TRUE(join_episodes({first, second}, kNames).rewards.empty());
}

TEST(JoinEpisodes, NamesTheOddFile) {
  const auto first = make_trajectories();
  EXPECT_THAT(
      error_of<DataFormatError>([&] {
        join_episodes({first, make_trajectories({.dim = 4})}, kNames);
      }),
      AllOf(HasSubstr("'some/b.h5' has observations of 4 numbers"), HasSubstr("'some/a.h5' of 3")));
  EXPECT_THAT(error_of<DataFormatError>([&] {
                join_episodes({first, make_trajectories({.discrete = true})}, kNames);
              }),
              HasSubstr("the actions in 'some/b.h5' are discrete and those in 'some/a.h5' 2"));
}

}  // namespace
}  // namespace kindred::testing
