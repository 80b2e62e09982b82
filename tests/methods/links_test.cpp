#include "kindred/methods/policy_search/evidence/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/metrics/clustering_scores.h"
#include "tests/clustering/synthetic.h"

namespace kindred::policy_search {
namespace {

using ::testing::ElementsAre;
using Pairs = std::vector<Links::Pair>;

Links some_links() { return {8, Pairs{{0, 1}, {1, 2}, {4, 5}}, Pairs{{2, 4}, {6, 0}}}; }

TEST(Links, KnowWhatIsTogetherAndWhatIsApart) {
  const auto links = some_links();
  EXPECT_THAT(links.episodes(), ElementsAre(0, 1, 2, 4, 5, 6));
  EXPECT_EQ(links.least_clusters(), 2);
  EXPECT_TRUE(links.kept(std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 0}));
  EXPECT_FALSE(links.kept(std::vector<std::int32_t>{0, 0, 1, 0, 1, 1, 1, 0}));
  EXPECT_FALSE(links.kept(std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 1, 0}));
}

TEST(Links, RefuseToContradictThemselves) {
  EXPECT_THROW(Links(4, Pairs{{0, 1}, {1, 2}}, Pairs{{2, 0}}), InvalidArgument);
}

TEST(Links, AreKeptWhateverIsCheapest) {
  const auto links = some_links();
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed, "links");
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 8; ++i) labels.push_back(static_cast<std::int32_t>(random.below(3)));
    links.enforce(labels, 3);
    ASSERT_TRUE(links.kept(labels));
    Matrix costs(8, 3);
    for (auto& x : costs.values) x = random.uniform();
    const auto cost = [&] {
      double sum = 0.0;
      for (std::int64_t i = 0; i < 8; ++i) sum += costs(i, labels[static_cast<std::size_t>(i)]);
      return sum;
    };
    const double before = cost();
    const auto changed = links.assign(costs, labels);
    EXPECT_TRUE(links.kept(labels));
    if (changed > 0)
      EXPECT_LT(cost(), before);
    else
      EXPECT_EQ(cost(), before);
  }
}

/// The last group is apart from all others, each apart from the next; labels the ends have lead the
/// middle into a corner unless all start anew.
TEST(Links, AreKeptWithAsFewClustersAsWereFound) {
  const Links row(4, Pairs{}, Pairs{{0, 2}, {2, 3}, {3, 1}, {0, 3}});
  const auto k = row.least_clusters();
  for (std::int32_t code = 0; code < 81; ++code) {
    std::vector<std::int32_t> labels = {code % 3, code / 3 % 3, code / 9 % 3, code / 27};
    row.enforce(labels, std::max<std::int64_t>(k, 3));
    EXPECT_TRUE(row.kept(labels)) << code;
  }
  EXPECT_EQ(k, 3);
  std::vector<std::int32_t> labels(4, 0);
  EXPECT_THROW(row.enforce(labels, 2), InvalidArgument);
}

TEST(Links, AmongSomeEpisodesAreTheSame) {
  const auto among = some_links().among(std::vector<std::int64_t>{1, 2, 3, 4});
  EXPECT_THAT(among.episodes(), ElementsAre(0, 1, 3));
  EXPECT_TRUE(among.kept(std::vector<std::int32_t>{0, 0, 0, 1}));
  EXPECT_FALSE(among.kept(std::vector<std::int32_t>{0, 0, 0, 0}));
}

TEST(Links, NothingKnownIsTheUsualStep) {
  Matrix costs(2, 2);
  costs.values = {1.0, 0.5, 2.0, 2.0};
  std::vector<std::int32_t> labels = {0, 1};
  EXPECT_EQ(Links().assign(costs, labels), 1);
  EXPECT_THAT(labels, ElementsAre(1, 1));  // a tie stays
}

}  // namespace
}  // namespace kindred::policy_search
