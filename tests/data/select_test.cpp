#include "kindred/data/select.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;
using Chosen = std::vector<std::int64_t>;

/// Episodes of 1, 2, 3, … steps; every value says which step it belongs to.
Trajectories example(std::int64_t episodes, bool interned = false) {
  Trajectories data;
  std::vector<std::int64_t> offsets = {0};
  std::vector<float> rows, rewards;
  std::vector<std::int32_t> index, actions, labels, oracle;
  std::vector<std::uint8_t> terminals, timeouts;
  for (std::int64_t i = 0; i < episodes; ++i) {
    offsets.push_back(offsets.back() + i + 1);
    data.ids.push_back(fmt::format("e{}", i));
    labels.push_back(static_cast<std::int32_t>(i % 2));
    oracle.push_back(static_cast<std::int32_t>(i % 3));
  }
  for (std::int64_t t = 0; t < offsets.back(); ++t) {
    rows.insert(rows.end(), {static_cast<float>(t), static_cast<float>(-t)});
    index.push_back(static_cast<std::int32_t>(t % 2));
    rewards.push_back(static_cast<float>(t) / 2);
    actions.push_back(static_cast<std::int32_t>(t % 5));
    terminals.push_back(t % 2 == 0);
    timeouts.push_back(t % 3 == 0);
  }
  data.observations =
      interned ? Observations::interned(std::vector<float>{10, 11, 20, 21}, 2, std::move(index))
               : Observations::dense(std::move(rows), 2);
  data.offsets = std::move(offsets);
  data.actions = Actions::discrete(std::move(actions), 9);
  data.rewards = std::move(rewards);
  data.terminals = std::move(terminals);
  data.timeouts = std::move(timeouts);
  data.labels = std::move(labels);
  data.oracle = std::move(oracle);
  data.label_names = {"even", "odd"};
  data.provenance["source"] = "made up";
  return data;
}

TEST(SelectEpisodes, TakesEveryColumnAlong) {
  const auto data = example(4);  // Steps [0], [1 2], [3 4 5], [6 7 8 9].
  const auto chosen = select_episodes(data, Chosen{2, 0, 2});
  chosen.validate("chosen");
  EXPECT_THAT(chosen.offsets.span(), ElementsAre(0, 3, 4, 7));
  EXPECT_THAT(chosen.observations.floats().span(),
              ElementsAre(3, -3, 4, -4, 5, -5, 0, 0, 3, -3, 4, -4, 5, -5));
  EXPECT_THAT(chosen.actions.ints().span(), ElementsAre(3, 4, 0, 0, 3, 4, 0));
  EXPECT_EQ(chosen.actions.count(), 9);
  EXPECT_THAT(chosen.rewards.span(), ElementsAre(1.5, 2, 2.5, 0, 1.5, 2, 2.5));
  EXPECT_THAT(chosen.terminals.span(), ElementsAre(0, 1, 0, 1, 0, 1, 0));
  EXPECT_THAT(chosen.timeouts.span(), ElementsAre(1, 0, 0, 1, 1, 0, 0));
  EXPECT_THAT(chosen.ids, ElementsAre("e2", "e0", "e2"));
  EXPECT_THAT(chosen.labels.span(), ElementsAre(0, 0, 0));
  EXPECT_THAT(chosen.oracle.span(), ElementsAre(2, 0, 2));
  EXPECT_EQ(chosen.label_names, data.label_names);
  EXPECT_EQ(chosen.provenance, data.provenance);
}

TEST(SelectStretches, MakesEpisodesOfParts) {
  auto data = example(4);  // Steps [0], [1 2], [3 4 5], [6 7 8 9].
  data.actors = std::vector<std::int32_t>{0, 0, 0, 1, 1, 0, 0, 0, 1, 1};
  const std::vector<Stretch> parts{{1, 0, 2}, {3, 0, 2}, {3, 2, 4}};
  const auto chosen = select_stretches(data, parts);
  chosen.validate("chosen");
  EXPECT_THAT(chosen.offsets.span(), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(chosen.actions.ints().span(), ElementsAre(1, 2, 1, 2, 3, 4));
  EXPECT_THAT(chosen.ids, ElementsAre("e1", "e3", "e3@2"));
  EXPECT_THAT(chosen.terminals.span(), ElementsAre(0, 1, 1, 0, 1, 0));
  EXPECT_THAT(chosen.timeouts.span(), ElementsAre(0, 0, 1, 1, 0, 1)) << "cuts end with one";
  EXPECT_THAT(chosen.actors.span(), ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(chosen.labels.span(), ElementsAre(0, 0, 1)) << "of who acts in the part";
  EXPECT_TRUE(chosen.oracle.empty());
  EXPECT_THROW(select_stretches(data, std::vector<Stretch>{{3, 2, 5}}), InvalidArgument);
  EXPECT_THROW(select_stretches(data, std::vector<Stretch>{{3, 2, 2}}), InvalidArgument);
}

TEST(LabelledStretches, AreWhereLabelsStayTheSame) {
  const std::vector<std::int32_t> labels{1, 1, 0, 0, 0, -1, 2};
  const std::vector<std::int64_t> offsets{0, 4, 7};
  std::vector<std::vector<std::int64_t>> found;
  for (const auto& one : labelled_stretches(labels, offsets))
    found.push_back({one.episode, one.begin, one.end, one.label});
  EXPECT_THAT(found, ElementsAre(ElementsAre(0, 0, 2, 1), ElementsAre(0, 2, 4, 0),
                                 ElementsAre(1, 0, 1, 0), ElementsAre(1, 2, 3, 2)));
}

TEST(SelectEpisodes, KeepsInterningAndSharesTheTable) {
  const auto data = example(3, /*interned=*/true);
  const auto chosen = select_episodes(data, Chosen{1});
  ASSERT_TRUE(chosen.observations.is_interned());
  EXPECT_EQ(chosen.observations.table().data(), data.observations.table().data());
  EXPECT_THAT(chosen.observations.index().span(), ElementsAre(1, 0));
}

TEST(SelectEpisodes, KeepsBytesAndContinuousActions) {
  Trajectories data;
  data.offsets = std::vector<std::int64_t>{0, 1, 3};
  data.observations = Observations::dense(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}, 2);
  data.actions = Actions::continuous(std::vector<float>{1, 2, 3, 4, 5, 6}, 2);
  data.ids = {"a", "b"};
  const auto chosen = select_episodes(data, Chosen{1});
  chosen.validate("chosen");
  EXPECT_THAT(chosen.observations.bytes().span(), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(chosen.actions.floats().span(), ElementsAre(3, 4, 5, 6));
  EXPECT_TRUE(chosen.rewards.empty());
  EXPECT_TRUE(chosen.labels.empty());
}

TEST(SelectEpisodes, RefusesWhatIsNotThere) {
  const auto data = example(3);
  EXPECT_THROW(select_episodes(data, {}), InvalidArgument);
  EXPECT_THROW(select_episodes(data, Chosen{-1}), InvalidArgument);
  try {
    select_episodes(data, Chosen{0, 3});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "cannot select episode 3: there are 3, numbered from 0");
  }
}

TEST(FilterByLength, KeepsThoseInRange) {
  const auto data = example(5);
  EXPECT_THAT(filter_by_length(data, 2, 4).ids, ElementsAre("e1", "e2", "e3"));
  EXPECT_THAT(filter_by_length(data, 0, 1).ids, ElementsAre("e0"));
  try {
    filter_by_length(data, 6, 10);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "none of the 5 episodes has from 6 to 10 steps: widen the range");
  }
}

TEST(ShuffleEpisodes, IsAPermutationThatTheSeedDecides) {
  const auto data = example(20);
  const auto shuffled = shuffle_episodes(data, 3);
  shuffled.validate("shuffled");
  EXPECT_NE(shuffled.ids, data.ids);
  EXPECT_THAT(shuffled.ids, ::testing::UnorderedElementsAreArray(data.ids));
  EXPECT_EQ(shuffled.ids, shuffle_episodes(data, 3).ids);
  EXPECT_NE(shuffled.ids, shuffle_episodes(data, 4).ids);
  for (std::int64_t i = 0; i < 20; ++i)  // Episode e<n> has n + 1 steps.
    EXPECT_EQ(fmt::format("e{}", shuffled.length(i) - 1),
              shuffled.ids[static_cast<std::size_t>(i)]);
}

TEST(TakeFirst, TakesAtMostWhatIsThere) {
  const auto data = example(4);
  EXPECT_THAT(take_first(data, 2).ids, ElementsAre("e0", "e1"));
  EXPECT_EQ(take_first(data, 99).ids, data.ids);
  EXPECT_THROW(take_first(data, 0), InvalidArgument);
  EXPECT_THROW(take_first(data, -1), InvalidArgument);
}

TEST(SampleEpisodes, TakesDifferentEpisodesInTheirOrder) {
  const auto data = example(10);
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto sample = sample_episodes(data, 3, seed);
    ASSERT_EQ(sample.episodes(), 3);
    EXPECT_TRUE(std::ranges::is_sorted(sample.ids));
    EXPECT_EQ(std::set(sample.ids.begin(), sample.ids.end()).size(), 3u);
    EXPECT_EQ(sample.ids, sample_episodes(data, 3, seed).ids);
    seen.insert(sample.ids.begin(), sample.ids.end());
  }
  EXPECT_EQ(seen.size(), 10u);
  EXPECT_EQ(sample_episodes(data, 99, 1).ids, data.ids);
  EXPECT_THROW(sample_episodes(data, 0, 1), InvalidArgument);
}

}  // namespace
}  // namespace kindred
