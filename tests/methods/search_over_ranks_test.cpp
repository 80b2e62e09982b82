// A search by several ranks, in the threads of one process: the same bits as by one, whether they
// share memory or send.
#include <gtest/gtest.h>

#include "kindred/methods/policy_search/search.h"
#include "tests/clustering/synthetic.h"
#include "tests/dist/rank_threads.h"

namespace kindred::policy_search {
namespace {

SearchResult search(const Trajectories& data, std::shared_ptr<Communicator> ranks) {
  RunContext run;
  run.pool = std::make_shared<ThreadPool>(1);
  run.communicator = std::move(ranks);
  return policy_search::search_by_conflicts(data, {.starts = 6}, run);
}

void expect_same(const SearchResult& found, const SearchResult& wanted) {
  EXPECT_EQ(found.chosen, wanted.chosen);
  ASSERT_EQ(found.answers.size(), wanted.answers.size());
  for (std::size_t i = 0; i < found.answers.size(); ++i) {
    const auto &one = found.answers[i], &other = wanted.answers[i];
    EXPECT_EQ(one.fit.labels, other.fit.labels);
    EXPECT_EQ(one.held_out.v, other.held_out.v);
    EXPECT_EQ(one.conflict, other.conflict);
    EXPECT_EQ(one.persistence, other.persistence);
  }
}

TEST(SearchOverRanks, HasTheSameBits) {
  const auto data = testing::linear_control(
      {.episodes = 24, .length = 450, .obs_dim = 4, .policies = 3}, 5);  // two pieces an episode
  const auto alone = search(data, nullptr);
  for (const bool shares_memory : {true, false})
    for (const std::int64_t size : {2, 3})
      testing::together(
          size,
          [&](const auto& ranks) {
            expect_same(search(data, ranks), alone);
            EXPECT_EQ(ranks->shares_memory(), shares_memory);
          },
          shares_memory);
}

}  // namespace
}  // namespace kindred::policy_search
