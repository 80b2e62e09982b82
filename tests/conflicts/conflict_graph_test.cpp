// The graph itself against brute force.
#include "kindred/conflicts/conflict_graph.h"

#include <gmock/gmock.h>

#include "kindred/conflicts/conflict_rows.h"
#include "kindred/conflicts/proofs.h"
#include "kindred/core/error.h"
#include "kindred/data/interning.h"
#include "small_data.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;

TEST(ConflictGraph, OfFourTrajectories) {
  // Two that differ in state 0, one elsewhere that everybody agrees with, one that contradicts
  // itself.
  const auto data = data_of({{{0, 0}, {1, 1}}, {{0, 1}}, {{1, 1}, {2, 0}}, {{2, 0}, {2, 1}}});
  const auto graph = conflict_graph(data);
  EXPECT_EQ(graph.states, 3);
  EXPECT_EQ(graph.shared_states, 3);
  EXPECT_EQ(graph.behaviours.states(), 1) << "only state 0 is contested";
  EXPECT_THAT(graph.behaviour, ElementsAre(0, 1, 2, kContradicts));
  EXPECT_EQ(graph.untouched(), 1);
  ASSERT_EQ(graph.contradicts.size(), 1u);
  EXPECT_EQ(graph.contradicts[0].episode, 3);
  EXPECT_EQ(graph.contradicts[0].step, 0);
  EXPECT_EQ(graph.contradicts[0].other_step, 1);
  EXPECT_EQ(count_conflicts(graph.behaviours, graph.members, Workers(1)).pairs, 1.0);
}

TEST(ConflictGraph, ContinuousActionsAreRefused) {
  auto data = data_of({{{0, 0}}});
  data.actions = Actions::continuous(std::vector<float>{0.5F}, 1);
  EXPECT_THROW(conflict_graph(data), InvalidArgument);
}

TEST(ConflictGraph, DenseObservationsAreComparedExactly) {
  auto data = data_of({{{0, 0}}, {{0, 1}}, {{1, 0}}});
  data.observations = Observations::dense(
      Column<float>(std::vector<float>{0.5F, 1.0F, 0.5F, 1.0F, 0.5F, 1.0000001F}), 2);
  EXPECT_THAT(number_states(data.observations), ElementsAre(0, 0, 1));
  const auto graph = conflict_graph(data);
  EXPECT_TRUE(find_disagreement(data, 0, 1));
  EXPECT_FALSE(find_disagreement(data, 0, 2));
  EXPECT_EQ(graph.untouched(), 1);
}

TEST(ConflictGraph, ARowThatATableHoldsTwiceIsOneState) {
  auto data = data_of({{{0, 0}}, {{1, 1}}});
  data.observations =
      Observations::interned(std::vector<float>{7.0F, 7.0F}, 1, std::vector<std::int32_t>{0, 1});
  EXPECT_TRUE(find_disagreement(data, 0, 1));
  EXPECT_EQ(conflict_graph(data).behaviours.count(), 2);
}

/// Everything that is said of pairs, on random data.
TEST(ConflictGraph, AgreesWithBruteForce) {
  Random random(11, "test");
  for (int trial = 0; trial < 300; ++trial) {
    const int states = 1 + trial % 7, actions = 2 + trial % 3;
    const auto ways = random_ways(random, 2 + trial % 40, states, actions, trial % 2 == 0);
    const auto data = data_of(ways, actions);
    const auto graph = conflict_graph(data);
    const auto n = static_cast<std::int64_t>(ways.size());
    double pairs = 0.0;
    std::int64_t untouched = 0, contradict = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto a = static_cast<std::size_t>(i);
      const bool contradicts = disagree(ways[a], ways[a]);
      contradict += contradicts;
      ASSERT_EQ(contradicts, graph.behaviour[a] == kContradicts);
      bool alone = !contradicts;
      for (std::int64_t j = 0; j < n; ++j) {
        const auto b = static_cast<std::size_t>(j);
        if (i == j || disagree(ways[b], ways[b])) continue;
        const bool conflict = disagree(ways[a], ways[b]);
        ASSERT_EQ(conflict, find_disagreement(data, i, j).has_value());
        if (contradicts) continue;
        ASSERT_EQ(conflict, graph.behaviours.conflict(graph.behaviour[a], graph.behaviour[b]));
        pairs += conflict && i < j;
        alone = alone && !conflict;
      }
      untouched += alone;
    }
    EXPECT_EQ(std::ssize(graph.contradicts), contradict);
    EXPECT_EQ(graph.untouched(), untouched);
    const auto counted = count_conflicts(graph.behaviours, graph.members, Workers(1));
    EXPECT_TRUE(counted.exact);
    EXPECT_EQ(counted.pairs, pairs);
    const auto proofs = conflicting_pairs(data, graph, counted, {}, 100'000, 0);
    EXPECT_EQ(static_cast<double>(proofs.size()), pairs) << "every pair, each once";
    for (const auto& one : proofs) {
      const auto step = data.offsets[one.episode] + one.step;
      const auto other = data.offsets[one.other] + one.other_step;
      ASSERT_EQ(data.observations.index()[step], data.observations.index()[other]);
      ASSERT_NE(data.actions.ints()[step], data.actions.ints()[other]);
    }
  }
}

TEST(ConflictGraph, RowsAreTheSameAsBitsAndAsLists) {
  // Widths make columns of several trajectories; many behaviours make some choices rare.
  Random random(5, "test");
  const auto ways = random_ways(random, 3000, 60, 3, false);
  const auto graph = conflict_graph(data_of(ways));
  const ConflictRows rows(graph.behaviours, graph.members);
  for (std::int32_t i = 0; i < graph.behaviours.count(); i += 37) {
    const auto row = rows.row(i);
    std::int64_t column = 0;
    for (std::int32_t j = 0; j < graph.behaviours.count(); ++j)
      for (std::int64_t m = 0; m < graph.members[static_cast<std::size_t>(j)]; ++m, ++column) {
        const bool set = row[static_cast<std::size_t>(column / 64)] >> (column % 64) & 1;
        ASSERT_EQ(set, graph.behaviours.conflict(i, j));
      }
  }
}

TEST(ConflictGraph, AnEstimateIsNearTheCount) {
  Random random(6, "test");
  const auto graph = conflict_graph(data_of(random_ways(random, 4000, 12, 3, false)));
  const auto exact = count_conflicts(graph.behaviours, graph.members, Workers(1));
  const auto estimate = count_conflicts(graph.behaviours, graph.members, Workers(1), 1.0);
  EXPECT_TRUE(exact.exact);
  EXPECT_FALSE(estimate.exact);
  EXPECT_GT(estimate.error, 0.0);
  EXPECT_NEAR(estimate.pairs, exact.pairs, 4.0 * estimate.error);
}

TEST(ConflictGraph, InsideClusters) {
  const auto data = data_of({{{0, 0}}, {{0, 1}}, {{0, 1}}, {{1, 0}, {1, 1}}, {{2, 0}}});
  const auto graph = conflict_graph(data);
  const std::vector<std::int32_t> labels{7, 7, 7, 2'000'000'000, -1};
  const auto found = conflicts_inside(graph, labels, Workers(1));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].label, 7);
  EXPECT_EQ(found[0].count.pairs, 2.0);
  EXPECT_FALSE(found[0].one_policy());
  EXPECT_EQ(found[1].contradict, 1);
  EXPECT_FALSE(found[1].one_policy());
}

}  // namespace
}  // namespace kindred
