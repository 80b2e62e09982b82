// Graphs, their files, and Algorithm 2 both ways.
#include "kindred/conflicts/graph.h"

#include <gmock/gmock.h>

#include "kindred/conflicts/least_policies.h"
#include "kindred/conflicts/reduction.h"
#include "kindred/core/error.h"

namespace kindred {
namespace {

using ::testing::HasSubstr;

TEST(Graph, KnownOnesHaveTheirSizes) {
  const auto size = [](const char* name) {
    const auto graph = known_graph(name);
    return std::pair<std::int64_t, std::int64_t>(graph.vertices, std::ssize(graph.edges));
  };
  using Size = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(size("petersen"), Size(10, 15));
  EXPECT_EQ(size("complete-6"), Size(6, 15));
  EXPECT_EQ(size("queens-5"), Size(25, 160));
  EXPECT_EQ(size("queens-8"), Size(64, 728));
  EXPECT_EQ(size("mycielski-4"), Size(11, 20)) << "Grötzsch's graph, myciel3 of DIMACS";
  EXPECT_EQ(size("mycielski-7"), Size(95, 755));
  EXPECT_EQ(known_graph("petersen").largest_degree(), 3);
  const auto drawn = known_graph("random-400-4.5", 3);
  EXPECT_NEAR(2.0 * static_cast<double>(drawn.edges.size()) / 400.0, 4.5, 0.6);
  EXPECT_EQ(drawn, known_graph("random-400-4.5", 3));
  EXPECT_NE(drawn, known_graph("random-400-4.5", 4));
  for (const char* name : {"", "petersen-2", "cycle-2", "cycle-", "queens-99", "random-5-9",
                           "random-5", "random--3", "complete-0", "heawood"})
    EXPECT_THROW(known_graph(name), InvalidArgument) << name;
}

TEST(Graph, DimacsBothWays) {
  for (const char* name : {"petersen", "queens-5", "complete-1"}) {
    const auto graph = known_graph(name);
    EXPECT_EQ(parse_dimacs(dimacs_text(graph, name), name), graph);
  }
  const Graph two(3, {{1, 0}});
  EXPECT_EQ(parse_dimacs("c x\r\n\np col 3 1\ne 2 1\ne 1 2\n", "x"), two) << "an edge both ways";
}

TEST(Graph, BadDimacsIsOneSentence) {
  const auto message = [](const char* text) {
    try {
      parse_dimacs(text, "g.col");
    } catch (const DataFormatError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_THAT(message(""), HasSubstr("holds no graph"));
  EXPECT_THAT(message("p edge 0 0\n"), HasSubstr("holds no graph"));
  EXPECT_THAT(message("e 1 2\n"), HasSubstr("line 1"));
  EXPECT_THAT(message("p edge 2 1\ne 1 3\n"), HasSubstr("line 2"));
  EXPECT_THAT(message("p edge 2 1\ne 1 1\n"), HasSubstr("line 2"));
  EXPECT_THAT(message("p edge 2 1\ne 0 1\n"), HasSubstr("line 2"));
  EXPECT_THAT(message("p edge x 1\n"), HasSubstr("'x'"));
  EXPECT_THAT(message("p edge 99999999999 1\n"), HasSubstr("number of vertices"));
  EXPECT_THAT(message("p edge 2 1\np edge 2 1\n"), HasSubstr("line 2"));
  EXPECT_THAT(message("\x89HDF"), HasSubstr("DIMACS"));
}

TEST(Reduction, TheConflictGraphIsTheGraph) {
  for (const char* name : {"petersen", "cycle-9", "complete-8", "complete-1", "queens-6",
                           "mycielski-5", "random-60-0.5", "random-60-4", "random-60-20"}) {
    const auto graph = known_graph(name, 2);
    const auto data = dataset_of(graph);
    data.validate(name);
    EXPECT_EQ(graph_of(conflict_graph(data)), graph) << name;
    EXPECT_EQ(data.length(0), std::max(1, graph.largest_degree())) << name;
  }
}

TEST(Reduction, CopiesChangeNothing) {
  const auto data = dataset_of(known_graph("petersen"), EdgeStates::kOwn, 4);
  data.validate("copies");
  EXPECT_EQ(data.episodes(), 40);
  EXPECT_EQ(data.ids[5], "2.2");
  const auto graph = conflict_graph(data);
  EXPECT_EQ(graph.behaviours.count(), 10);
  EXPECT_EQ(least_policies(graph).at_most, 3);
  EXPECT_EQ(std::ssize(graph_of(graph).edges), 15 * 16);
}

TEST(Reduction, ADivisionIsAColouring) {
  for (const char* name : {"petersen", "queens-6", "random-80-4"}) {
    const auto graph = known_graph(name, 1);
    const auto conflicts = conflict_graph(dataset_of(graph));
    const auto found = least_policies(conflicts);
    const auto colour = policies_of_episodes(conflicts, found);
    for (const auto& [from, to] : graph.edges)
      EXPECT_NE(colour[static_cast<std::size_t>(from)], colour[static_cast<std::size_t>(to)]);
    EXPECT_EQ(*std::ranges::max_element(colour) + 1, found.at_most);
  }
}

TEST(Reduction, AsPrintedItAsksForMoreThanTheGraph) {
  // Two edges that do not touch use one state, and their ends come to conflict across.
  const Graph apart(4, {{0, 1}, {2, 3}});
  EXPECT_EQ(graph_of(conflict_graph(dataset_of(apart, EdgeStates::kPrinted))),
            Graph(4, {{0, 1}, {2, 3}, {0, 3}, {1, 2}}));
  // Every edge of the graph is still a conflict, within the number of states that the paper gives.
  const auto graph = known_graph("petersen");
  const auto data = dataset_of(graph, EdgeStates::kPrinted);
  const auto conflicts = graph_of(conflict_graph(data));
  EXPECT_TRUE(std::ranges::includes(conflicts.edges, graph.edges));
  EXPECT_LE(data.observations.distinct() - 1, 2 * graph.largest_degree());
  // Three colours are enough for the graph and not for the data.
  EXPECT_GT(least_policies(conflict_graph(data)).at_least, 3);
}

}  // namespace
}  // namespace kindred
