// From a graph to a dataset whose valid clusterings are the graph's colourings (the paper's
// Algorithm 2), and back.
#pragma once

#include <cstdint>

#include "kindred/conflicts/conflict_graph.h"
#include "kindred/conflicts/graph.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// In which state the two ends of an edge disagree.
enum class EdgeStates {
  kOwn,      ///< One that no other edge uses: the data's conflict graph is the graph.
  kPrinted,  ///< As Algorithm 2 is printed: the first that neither end has visited. Edges that
             ///< share a state come to conflict with each other's ends, which the graph does not
             ///< ask for.
};

/// One trajectory per vertex, called by its number from 1 as in DIMACS files, or as many `copies`
/// of it, called "7.1", "7.2", …; at each edge one of its ends takes action 0 and the other action
/// 1 in a state of theirs. Trajectories that are shorter than others rest at the end, in a state
/// where all do the same. An observation is the state's number; 0 is the rest.
Trajectories dataset_of(const Graph& graph, EdgeStates rule = EdgeStates::kOwn,
                        std::int64_t copies = 1);

/// The conflict graph of trajectories, with an edge for each conflict; those that contradict
/// themselves have none. Throws InvalidArgument when there are more than `most_edges`.
Graph graph_of(const ConflictGraph& conflicts, std::int64_t most_edges = 20'000'000);

}  // namespace kindred
