#include "kindred/conflicts/reduction.h"

#include <algorithm>

#include "kindred/conflicts/conflict_rows.h"
#include "kindred/core/error.h"

namespace kindred {
namespace {

using conflicts::at;

struct Step {
  std::int32_t state, action;
};

std::int32_t first_unvisited(const std::vector<Step>& from, const std::vector<Step>& to) {
  const auto visited = [](const std::vector<Step>& way, std::int32_t state) {
    return std::ranges::find(way, state, &Step::state) != way.end();
  };
  std::int32_t state = 0;
  while (visited(from, state) || visited(to, state)) ++state;
  return state;
}

/// What the trajectory of each vertex does, without its rests.
std::vector<std::vector<Step>> ways_of(const Graph& graph, EdgeStates rule) {
  std::vector<std::vector<Step>> ways(at(graph.vertices));
  std::int32_t next = 0;
  for (const auto& [a, b] : graph.edges) {
    auto &from = ways[at(a)], &to = ways[at(b)];
    const auto state = rule == EdgeStates::kOwn ? next++ : first_unvisited(from, to);
    from.push_back({state, 0});
    to.push_back({state, 1});
  }
  return ways;
}

}  // namespace

Trajectories dataset_of(const Graph& graph, EdgeStates rule, std::int64_t copies) {
  const auto ways = ways_of(graph, rule);
  const auto horizon = at(std::max(1, graph.largest_degree()));
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> index, actions;
  std::int32_t states = 1;
  Trajectories data;
  for (std::size_t vertex = 0; vertex < ways.size(); ++vertex)
    for (std::int64_t copy = 1; copy <= copies; ++copy) {
      for (const auto& [state, action] : ways[vertex]) {
        index.push_back(state + 1);
        actions.push_back(action);
        states = std::max(states, state + 2);
      }
      index.resize(offsets.size() * horizon, 0);
      actions.resize(index.size(), 0);
      offsets.push_back(std::ssize(index));
      data.ids.push_back(copies == 1 ? fmt::format("{}", vertex + 1)
                                     : fmt::format("{}.{}", vertex + 1, copy));
    }
  std::vector<float> table;
  for (std::int32_t state = 0; state < states; ++state) table.push_back(static_cast<float>(state));
  data.offsets = std::move(offsets);
  data.observations = Observations::interned(std::move(table), 1, std::move(index));
  data.actions = Actions::discrete(std::move(actions), 2);
  data.observation_names = {"state"};
  data.provenance = {{"generator", "colouring"},
                     {"vertices", graph.vertices},
                     {"edges", graph.edges.size()},
                     {"copies", copies},
                     {"states", rule == EdgeStates::kOwn ? "own" : "printed"}};
  return data;
}

Graph graph_of(const ConflictGraph& conflicts, std::int64_t most_edges) {
  const ConflictRows rows(conflicts.behaviours);
  std::vector<std::vector<std::int32_t>> members(at(conflicts.behaviours.count()));
  for (std::int64_t i = 0; i < conflicts.episodes(); ++i)
    if (const auto mine = conflicts.behaviour[at(i)]; mine != kContradicts)
      members[at(mine)].push_back(static_cast<std::int32_t>(i));
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::int32_t a = 0; a < conflicts.behaviours.count(); ++a) {
    const auto row = rows.row(a);
    for (auto b = next_bit(row, a + 1); b >= 0; b = next_bit(row, b + 1)) {
      for (const auto i : members[at(a)])
        for (const auto j : members[at(b)]) edges.emplace_back(i, j);
      if (std::ssize(edges) > most_edges)
        throw InvalidArgument("its conflict graph has more than {} edges, too many for a list",
                              most_edges);
    }
  }
  return {static_cast<std::int32_t>(conflicts.episodes()), std::move(edges)};
}

}  // namespace kindred
