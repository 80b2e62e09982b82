#include "kindred/conflicts/conflict_graph.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "kindred/core/error.h"
#include "kindred/data/interning.h"

namespace kindred {
namespace {

using conflicts::at;

void require_discrete(const Trajectories& data) {
  if (!data.actions.is_discrete())
    throw InvalidArgument(
        "its actions are continuous: two trajectories hardly ever do exactly the same, so "
        "conflicts "
        "say nothing there; they need discrete actions");
}

/// A trajectory's choices as sorted numbers state * actions + action, each once.
std::vector<std::int64_t> choices_of(const Trajectories& data, std::span<const std::int32_t> states,
                                     std::int64_t episode) {
  std::vector<std::int64_t> choices;
  for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step)
    choices.push_back(states[at(step)] * data.actions.count() + data.actions.ints()[step]);
  std::ranges::sort(choices);
  const auto repeated = std::ranges::unique(choices);
  choices.erase(repeated.begin(), repeated.end());
  return choices;
}

bool contradicts_itself(const std::vector<std::int64_t>& choices, std::int64_t actions) {
  return std::ranges::adjacent_find(choices, [&](std::int64_t a, std::int64_t b) {
           return a / actions == b / actions;
         }) != choices.end();
}

/// How many states are visited, and how many by more than one trajectory.
void count_states(ConflictGraph& graph, const Trajectories& data,
                  std::span<const std::int32_t> states) {
  constexpr std::int64_t kUnseen = -1, kSeveral = -2;
  std::vector<std::int64_t> visitor;  // of each state
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (auto step = data.offsets[i]; step < data.offsets[i + 1]; ++step) {
      const auto state = at(states[at(step)]);
      if (visitor.size() <= state) visitor.resize(state + 1, kUnseen);
      if (visitor[state] != i) visitor[state] = visitor[state] == kUnseen ? i : kSeveral;
    }
  graph.states = std::ssize(visitor) - std::ranges::count(visitor, kUnseen);
  graph.shared_states = std::ranges::count(visitor, kSeveral);
}

/// Numbers behaviours so that those with most choices come first, and drops repeated ones.
void merge_equal(ConflictGraph& graph, const Behaviours& all, std::span<const std::int64_t> whose) {
  std::vector<std::int32_t> order(at(all.count()));
  std::iota(order.begin(), order.end(), 0);
  const auto larger = [&](std::int32_t a, std::int32_t b) {
    const auto left = all.of(a), right = all.of(b);
    if (left.size() != right.size()) return left.size() > right.size();
    const auto [first, second] = std::ranges::mismatch(left, right);
    return first == left.end() ? a < b : *first < *second;
  };
  std::ranges::sort(order, larger);
  std::vector<std::int32_t> chosen;
  for (const auto i : order) {
    if (chosen.empty() || !std::ranges::equal(all.of(chosen.back()), all.of(i))) {
      chosen.push_back(i);
      graph.members.push_back(0);
    }
    ++graph.members.back();
    graph.behaviour[at(whose[at(i)])] = static_cast<std::int32_t>(chosen.size()) - 1;
  }
  graph.behaviours = select_behaviours(all, chosen);
}

}  // namespace

std::int64_t ConflictGraph::untouched() const {
  // Somebody is against everybody who has a choice at all, and who has none is the last behaviour.
  const auto last = behaviours.count() - 1;
  return last >= 0 && behaviours.of(last).empty() ? members.back() : 0;
}

ConflictGraph conflict_graph(const Trajectories& data, const Workers& workers) {
  require_discrete(data);
  const auto states = number_states(data.observations);
  std::vector<std::vector<std::int64_t>> maps(at(data.episodes()));
  workers.chunks(data.episodes(), 1024, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) maps[at(i)] = choices_of(data, states, i);
  });
  ConflictGraph graph;
  count_states(graph, data, states);
  graph.behaviour.assign(maps.size(), kContradicts);
  std::vector<std::int64_t> whose;  // the trajectories that are in a behaviour
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    if (contradicts_itself(maps[at(i)], data.actions.count())) {
      graph.contradicts.push_back(*find_disagreement(data, states, i, i));
      continue;
    }
    if (std::ssize(whose) < i) maps[whose.size()] = std::move(maps[at(i)]);
    whose.push_back(i);
  }
  maps.resize(whose.size());
  merge_equal(graph, make_behaviours(maps, data.actions.count()), whose);
  return graph;
}

std::optional<Disagreement> find_disagreement(const Trajectories& data,
                                              std::span<const std::int32_t> states,
                                              std::int64_t episode, std::int64_t other) {
  const auto& actions = data.actions.ints();
  std::unordered_map<std::int32_t, std::vector<std::int64_t>> visits;
  for (auto step = data.offsets[other]; step < data.offsets[other + 1]; ++step)
    visits[states[at(step)]].push_back(step);
  for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step)
    if (const auto found = visits.find(states[at(step)]); found != visits.end())
      for (const auto theirs : found->second)
        if (actions[theirs] != actions[step])
          return Disagreement{.episode = episode,
                              .other = other,
                              .step = step - data.offsets[episode],
                              .other_step = theirs - data.offsets[other],
                              .state = states[at(step)],
                              .action = actions[step],
                              .other_action = actions[theirs]};
  return std::nullopt;
}

std::optional<Disagreement> find_disagreement(const Trajectories& data, std::int64_t episode,
                                              std::int64_t other) {
  require_discrete(data);
  return find_disagreement(data, number_states(data.observations), episode, other);
}

}  // namespace kindred
