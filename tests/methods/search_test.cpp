#include "kindred/methods/policy_search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kindred/core/random.h"
#include "kindred/data/select.h"
#include "kindred/methods/policy_search/partitions/alternatives.h"
#include "kindred/metrics/clustering_scores.h"
#include "tests/clustering/synthetic.h"

namespace kindred::policy_search {
namespace {

namespace testing = kindred::testing;

using kindred::testing::linear_control;

SearchResult search(const Trajectories& data, const SearchOptions& options = {}, int threads = 2) {
  RunContext run;
  run.pool = std::make_shared<ThreadPool>(threads);
  return search_by_conflicts(data, options, run);
}

double nmi(const SearchResult& found, const Trajectories& data) {
  return normalized_mutual_information(found.answer().fit.labels, data.labels.span());
}

TEST(Search, FindsHowManyPoliciesThereAre) {
  for (const std::int64_t policies : {1, 2, 3, 5, 8})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const auto data =
          linear_control({.episodes = 10 * policies, .obs_dim = 4, .policies = policies}, seed);
      const auto found = search(data);
      EXPECT_EQ(found.answer().fit.k, policies) << "seed " << seed;
      EXPECT_GT(nmi(found, data), 1.0 - 1e-9) << policies << " policies, seed " << seed;
    }
}

/// Three policies of which two drive episodes apart, to one of four corners or one of two sides.
Trajectories going_different_ways(std::int64_t episodes, std::uint64_t seed) {
  Random random(seed, "ways");
  std::vector<float> seen, done;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> labels;
  Trajectories data;
  for (std::int64_t i = 0; i < episodes; ++i) {
    const auto policy = static_cast<std::int32_t>(i % 3);
    double s[4];
    for (auto& x : s) x = random.normal();
    for (int t = 0; t < 65; ++t) {
      double a[2] = {std::tanh(1.2 * s[0]), std::tanh(1.2 * s[1])};
      if (policy == 1) a[0] = -0.6 * s[0] + 0.3 * s[2], a[1] = -0.6 * s[1] + 0.3 * s[3];
      if (policy == 2) a[0] = std::sin(2.0 * s[0]), a[1] = 0.5 * s[3];
      for (auto& x : a) x += 0.1 * random.normal();
      for (const double x : s) seen.push_back(static_cast<float>(x));
      for (const double x : a) done.push_back(static_cast<float>(x));
      for (int d = 0; d < 4; ++d)
        s[d] =
            std::clamp(s[d] + (d < 2 ? 0.2 : -0.2) * a[d % 2] + 0.05 * random.normal(), -3.0, 3.0);
    }
    offsets.push_back(offsets.back() + 65);
    labels.push_back(policy);
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = Column<std::int64_t>(std::move(offsets));
  data.observations = Observations::dense(Column<float>(std::move(seen)), 4);
  data.actions = Actions::continuous(std::move(done), 2);
  data.labels = Column<std::int32_t>(std::move(labels));
  return data;
}

/// A policy may be divided by where it went, but nothing is sure then, and no cluster is of two.
TEST(Search, WhereAPolicyWentIsNotSurelyAPolicy) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const auto data = going_different_ways(150, seed);
    const auto found = search(data);
    EXPECT_GE(found.answer().fit.k, 3) << "seed " << seed;
    EXPECT_GT(purity(found.answer().fit.labels, data.labels.span()), 0.95) << "seed " << seed;
    EXPECT_FALSE(found.count->sure) << "seed " << seed;
  }
}

TEST(Search, TwoEpisodesOfEachPolicyAreEnough) {
  const auto data =
      linear_control({.episodes = 12, .length = 200, .obs_dim = 4, .policies = 6, .noise = 0.3});
  const auto found = search(data, {.k = 6});
  EXPECT_GT(nmi(found, data), 1.0 - 1e-9);
}

TEST(Search, UnitsOfActionsAndObservationsDoNotMatter) {
  const auto data = linear_control({.episodes = 40, .policies = 4, .noise = 0.6});
  const auto expected = search(data).answer().fit.labels;
  const auto values = data.actions.floats().span();
  const auto seen = data.observations.floats().span();
  for (const float scale : {1e-3f, 1e4f}) {
    Trajectories other = data;
    std::vector<float> actions, observations;
    for (const float x : values) actions.push_back(scale * x + 3.0f * scale);
    for (const float x : seen) observations.push_back(0.5f * scale * x - 2.0f * scale);
    other.actions = Actions::continuous(std::move(actions), data.actions.dim());
    other.observations = Observations::dense(Column<float>(std::move(observations)), 3);
    EXPECT_EQ(search(other).answer().fit.labels, expected) << scale;
  }
}

TEST(Search, TheAnswerDoesNotDependOnTheNumberOfThreads) {
  const auto data = linear_control({.episodes = 40, .policies = 4, .noise = 1.5});
  const auto one = search(data, {}, 1), four = search(data, {}, 4);
  ASSERT_EQ(one.answers.size(), four.answers.size());
  for (std::size_t i = 0; i < one.answers.size(); ++i) {
    EXPECT_EQ(one.answers[i].fit.labels, four.answers[i].fit.labels);
    EXPECT_EQ(one.answers[i].held_out.v, four.answers[i].held_out.v);
  }
}

TEST(EpisodesToSearch, AreASampleThatFollowsFromIdsWhereThereAreMany) {
  const auto data = linear_control({.episodes = 1500, .length = 5});
  const auto searched = episodes_to_search(data, {});
  EXPECT_EQ(searched.size(), 1000u);
  EXPECT_TRUE(std::ranges::is_sorted(searched));
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < 1500; ++i) order.push_back(1499 - i);
  std::vector<std::int64_t> expected;
  for (const auto i : episodes_to_search(select_episodes(data, order), {}))
    expected.push_back(1499 - i);
  std::ranges::sort(expected);
  EXPECT_EQ(searched, expected);
  EXPECT_EQ(episodes_to_search(linear_control({.episodes = 9}), {}).size(), 9u);
}

TEST(Search, FewerAreAlmostAsGoodWithinWhatFoldsCanTell) {
  const auto fewer = [](std::vector<Considered> considered, std::int64_t k) {
    return fewer_almost_as_good(considered, k);
  };
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  const Considered one{.k = 1, .v = -1.0}, four{.k = 4, .v = -0.02};
  EXPECT_THAT(fewer({one, four, {.k = 5, .v = 0.0, .gain_error = 0.001}}, 5), ElementsAre(4));
  EXPECT_THAT(fewer({one, four, {.k = 5, .v = 0.1, .gain_error = 0.001}}, 5), IsEmpty());
  EXPECT_THAT(fewer({one, four, {.k = 5, .v = 0.1, .gain_error = 0.1}}, 5), ElementsAre(4));
  EXPECT_THAT(fewer({one, four, {.k = 5, .v = 0.1}}, 4), IsEmpty());  // more are no matter here
  EXPECT_THAT(fewer({}, 3), IsEmpty());
}

TEST(Search, EqualActionsAreOnePolicy) {
  auto data = linear_control({.episodes = 4});
  data.actions =
      Actions::continuous(std::vector<float>(static_cast<std::size_t>(data.steps()), 1.0f), 1);
  EXPECT_EQ(search(data).answer().fit.k, 1);
}

/// Two policies, of which the user says that the second is two operators.
TEST(Search, KeepsWhatIsKnown) {
  const auto data = linear_control({.episodes = 40, .policies = 2});
  SearchOptions options;
  options.starts = 4;
  options.links =
      Links(40, std::vector<Links::Pair>{{1, 3}, {5, 7}, {0, 2}}, std::vector<Links::Pair>{{1, 5}});
  const auto found = search_by_conflicts(data, options, {});
  EXPECT_GE(found.answer().fit.k, 2);
  EXPECT_TRUE(options.links.kept(found.answer().fit.labels));
  options.k = 3;
  const auto three = search_by_conflicts(data, options, {});
  EXPECT_EQ(three.answer().fit.k, 3);
  EXPECT_TRUE(options.links.kept(three.answer().fit.labels));
}

TEST(Search, FindsTablesWhereObservationsRepeat) {
  for (const std::int64_t policies : {1, 2, 4})
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const auto data = testing::repeating_choices(40 * policies, policies, seed);
      const auto found = search(data, {.tables = true});
      ASSERT_TRUE(found.count);
      EXPECT_EQ(found.count->least, policies) << "seed " << seed;
      const auto& as_many = found.answers[static_cast<std::size_t>(policies - 1)].fit.labels;
      EXPECT_GT(normalized_mutual_information(as_many, data.labels.span()), 0.95);
      // One cluster too many has been seen, never surely.
      EXPECT_LE(found.answer().fit.k, policies + 1) << "seed " << seed;
      EXPECT_TRUE(found.answer().fit.k == policies || !found.count->sure) << "seed " << seed;
    }
}

}  // namespace
}  // namespace kindred::policy_search
