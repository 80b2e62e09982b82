// Chromatic numbers: of graphs that are known, and of random data against brute force.
#include "kindred/conflicts/least_policies.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "kindred/conflicts/bounds.h"
#include "kindred/conflicts/reduction.h"
#include "small_data.h"

namespace kindred {
namespace {

using conflicts::at;

struct Known {
  const char* name;
  std::int32_t colours;
};

class ChromaticNumber : public ::testing::TestWithParam<Known> {};

TEST_P(ChromaticNumber, IsExact) {
  const auto graph = conflict_graph(dataset_of(known_graph(GetParam().name)));
  const auto found = least_policies(graph, {.nodes = 1'000'000'000, .seconds = 1e6});
  EXPECT_EQ(found.at_least, GetParam().colours);
  EXPECT_EQ(found.at_most, GetParam().colours);
  for (std::int32_t i = 0; i < graph.behaviours.count(); ++i)
    for (std::int32_t j = 0; j < i; ++j)
      if (graph.behaviours.conflict(i, j)) {
        ASSERT_NE(found.policy[at(i)], found.policy[at(j)]);
      }
  for (const auto i : found.clique)
    for (const auto j : found.clique) EXPECT_TRUE(i == j || graph.behaviours.conflict(i, j));
}

INSTANTIATE_TEST_SUITE_P(
    Graphs, ChromaticNumber,
    ::testing::Values(Known{"petersen", 3}, Known{"cycle-3", 3}, Known{"cycle-4", 2},
                      Known{"cycle-5", 3}, Known{"cycle-6", 2}, Known{"cycle-101", 3},
                      Known{"cycle-1000", 2}, Known{"complete-1", 1}, Known{"complete-2", 2},
                      Known{"complete-5", 5}, Known{"complete-30", 30}, Known{"queens-5", 5},
                      Known{"queens-6", 7}, Known{"queens-7", 7}, Known{"queens-8", 9},
                      Known{"mycielski-3", 3}, Known{"mycielski-4", 4}, Known{"mycielski-5", 5},
                      Known{"mycielski-6", 6}, Known{"mycielski-7", 7}, Known{"mycielski-8", 8}),
    [](const auto& tested) {
      std::string name = tested.param.name;
      std::erase(name, '-');
      return name;
    });

/// The least number of colours and every division into that many, by trying all.
struct Divisions {
  std::int32_t colours = 0;
  std::vector<std::vector<std::int32_t>> all;  ///< Colours in order of first appearance.
};

Divisions all_divisions(const Behaviours& behaviours) {
  Divisions found;
  std::vector<std::int32_t> colour(at(behaviours.count()), 0);
  const std::function<void(std::int32_t, std::int32_t)> go = [&](std::int32_t i,
                                                                 std::int32_t used) {
    if (i == behaviours.count()) {
      found.all.push_back(colour);
      return;
    }
    for (std::int32_t c = 0; c <= std::min(used, found.colours - 1); ++c) {
      bool fits = true;
      for (std::int32_t j = 0; j < i && fits; ++j)
        fits = colour[at(j)] != c || !behaviours.conflict(i, j);
      colour[at(i)] = c;
      if (fits) go(i + 1, std::max(used, c + 1));
    }
  };
  while (found.all.empty()) {
    ++found.colours;
    go(0, 0);
  }
  return found;
}

TEST(LeastPolicies, AgreesWithBruteForce) {
  Random random(21, "test");
  std::int64_t forced = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const auto ways = random_ways(random, 2 + trial % 8, 2 + trial % 5, 2 + trial % 2, false);
    const auto graph = conflict_graph(data_of(ways));
    const auto truth = all_divisions(graph.behaviours);
    const auto found = least_policies(graph);
    ASSERT_EQ(found.at_least, truth.colours);
    ASSERT_EQ(found.at_most, truth.colours);
    for (std::int32_t k = 1; k <= truth.colours + 1; ++k)
      ASSERT_EQ(divide_among(graph, k).verdict,
                k < truth.colours ? Verdict::kImpossible : Verdict::kFound);
    EXPECT_LE(mycielski_bound(graph.behaviours), truth.colours);
    // So many divisions there are at least.
    EXPECT_LE(std::pow(10.0, found.log10_divisions()),
              static_cast<double>(truth.all.size()) + 1e-6);
    // Any two that are forced and in one part stand to each other as in every division.
    const auto parts = connected_parts(graph.behaviours);
    for (std::int32_t i = 0; i < graph.behaviours.count(); ++i) {
      forced += found.forced[at(i)];
      for (std::int32_t j = 0; j < i; ++j) {
        if (!found.forced[at(i)] || !found.forced[at(j)] || parts[at(i)] != parts[at(j)]) continue;
        const bool together = found.policy[at(i)] == found.policy[at(j)];
        for (const auto& division : truth.all)
          ASSERT_EQ(division[at(i)] == division[at(j)], together);
      }
    }
  }
  EXPECT_GT(forced, 100) << "nothing was tried";
}

TEST(LeastPolicies, GivesUpHonestly) {
  const auto graph = conflict_graph(dataset_of(known_graph("queens-8")));
  const auto found = least_policies(graph, {.nodes = 10, .seconds = 1e6});
  EXPECT_FALSE(found.exact());
  EXPECT_LE(found.at_least, 9);
  EXPECT_GE(found.at_most, 9);
  EXPECT_LE(found.nodes, 10);
  EXPECT_FALSE(least_policies(graph, {.nodes = 1'000'000, .seconds = 0.0}).exact());
  EXPECT_EQ(divide_among(graph, 8, {.nodes = 10, .seconds = 1e6}).verdict, Verdict::kUndecided);
  EXPECT_EQ(divide_among(graph, 7, {.nodes = 10, .seconds = 1e6}).verdict, Verdict::kImpossible);
}

TEST(LeastPolicies, PartsAreIndependent) {
  // A triangle, an edge, and one that nobody touches; 6 ways to put the edge beside the triangle.
  const auto graph = conflict_graph(
      data_of({{{0, 0}}, {{0, 1}}, {{0, 2}}, {{1, 0}}, {{1, 1}}, {{1, 1}, {3, 0}}, {{2, 0}}}));
  const auto found = least_policies(graph);
  EXPECT_EQ(found.at_most, 3);
  ASSERT_EQ(found.parts.size(), 2u);
  EXPECT_EQ(found.parts[0].trajectories, 3);
  EXPECT_EQ(found.parts[1].trajectories, 3);
  EXPECT_EQ(found.parts[1].at_most, 2);
  EXPECT_NEAR(found.log10_divisions(), std::log10(6.0), 1e-9);
  EXPECT_EQ(graph.untouched(), 1);
  EXPECT_EQ(std::ranges::count(found.forced, true), 3);
}

TEST(LeastPolicies, NothingToDivide) {
  const auto one = least_policies(conflict_graph(data_of({{{0, 0}}, {{1, 1}}})));
  EXPECT_EQ(one.at_least, 1);
  EXPECT_EQ(one.at_most, 1);
  const auto none = least_policies(conflict_graph(data_of({{{0, 0}, {0, 1}}})));
  EXPECT_EQ(none.at_most, 0) << "the only trajectory contradicts itself";
}

}  // namespace
}  // namespace kindred
