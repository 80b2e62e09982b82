#include "kindred/conflicts/study.h"

#include <algorithm>
#include <map>

#include "kindred/core/words.h"

namespace kindred {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostParts = 100;  // that are listed one by one

using conflicts::at;

std::string policies_of(std::int32_t number) {
  return number == 1 ? "1 deterministic policy"
                     : fmt::format("{} deterministic policies", grouped(number));
}

}  // namespace

std::int64_t ConflictStudy::forced() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < least.forced.size(); ++i)
    if (least.forced[i]) sum += graph.members[i];
  return sum;
}

std::vector<std::int64_t> ConflictStudy::clique_episodes() const {
  std::vector<std::int64_t> episodes;
  for (const auto behaviour : least.clique)
    episodes.push_back(std::ranges::find(graph.behaviour, behaviour) - graph.behaviour.begin());
  return episodes;
}

ConflictStudy study_conflicts(const Trajectories& data, const SearchLimits& limits,
                              const Workers& workers, double most_words) {
  ConflictStudy study{.graph = conflict_graph(data, workers), .count = {}, .least = {}};
  study.count = count_conflicts(study.graph.behaviours, study.graph.members, workers, most_words);
  study.least = least_policies(study.graph, limits);
  workers.throw_if_stopped();
  return study;
}

std::string conclusion_of(const ConflictStudy& study) {
  const auto all = study.graph.episodes();
  const auto contradict = std::ssize(study.graph.contradicts);
  if (contradict == all)
    return "Every trajectory takes two actions in one state: no deterministic policy of what is "
           "observed made any of them.";
  const auto& least = study.least;
  const std::string who = contradict == 0 ? "these trajectories"
                                          : fmt::format("{} of {} trajectories",
                                                        grouped(all - contradict), grouped(all));
  if (study.count.pairs == 0.0)
    return fmt::format(
        "One deterministic policy can have made {}: where two visit one state, they do the same.",
        who);
  if (least.exact())
    return fmt::format("{} can have made {}, fewer cannot.", policies_of(least.at_most), who);
  return fmt::format(
      "{} can have made {}, fewer than {} cannot; what lies between was not decided.",
      policies_of(least.at_most), who, least.at_least);
}

Json to_json(const ConflictStudy& study, const Trajectories& data) {
  const auto& [graph, count, least] = study;
  auto parts = Json::array();
  for (const auto& part : least.parts) {
    if (parts.size() == kMostParts) break;
    parts.push_back({{"trajectories", part.trajectories},
                     {"behaviours", part.behaviours},
                     {"at_least", part.at_least},
                     {"at_most", part.at_most}});
  }
  auto clique = Json::array();
  for (const auto episode : study.clique_episodes()) clique.push_back(data.ids[at(episode)]);
  const auto n = static_cast<double>(graph.episodes() - std::ssize(graph.contradicts));
  return {
      {"conclusion", conclusion_of(study)},
      {"episodes", graph.episodes()},
      {"states", graph.states},
      {"shared_states", graph.shared_states},
      {"contested_states", graph.behaviours.states()},
      {"behaviours", graph.behaviours.count()},
      {"contradict", graph.contradicts.size()},
      {"conflicts", count.exact ? Json(static_cast<std::int64_t>(count.pairs)) : Json(count.pairs)},
      {"conflicts_exact", count.exact},
      {"conflicts_error", count.error},
      {"pairs", n * (n - 1.0) / 2.0},
      {"untouched", graph.untouched()},
      {"parts", least.parts.size()},
      {"largest_parts", parts},
      {"at_least", least.at_least},
      {"at_most", least.at_most},
      {"exact", least.exact()},
      {"clique", clique},
      {"forced", study.forced()},
      {"log10_divisions", least.log10_divisions()},
      {"nodes", least.nodes}};
}

Json to_json(const std::vector<ClusterConflicts>& clusters) {
  auto list = Json::array();
  for (const auto& cluster : clusters)
    list.push_back({{"label", cluster.label},
                    {"trajectories", cluster.trajectories},
                    {"contradict", cluster.contradict},
                    {"conflicts", cluster.count.pairs},
                    {"conflicts_exact", cluster.count.exact}});
  return list;
}

Json to_json(const Disagreement& found, const Trajectories& data) {
  return {{"episode", data.ids[at(found.episode)]},
          {"other", data.ids[at(found.other)]},
          {"step", found.step},
          {"other_step", found.other_step},
          {"state", found.state},
          {"action", found.action},
          {"other_action", found.other_action}};
}

ConflictSample sample_conflicts(const ConflictStudy& study, std::span<const std::int32_t> groups,
                                std::int64_t count) {
  const auto& behaviour = study.graph.behaviour;
  std::map<std::int32_t, std::vector<std::int64_t>> members;  // labels may be any numbers
  for (std::int64_t i = 0; i < std::ssize(groups); ++i)
    if (groups[at(i)] >= 0 && behaviour[at(i)] != kContradicts) members[groups[at(i)]].push_back(i);
  ConflictSample sample;
  const auto add = [&](std::int64_t episode) {
    if (std::ssize(sample.episodes) < count &&
        std::ranges::find(sample.episodes, episode) == sample.episodes.end())
      sample.episodes.push_back(episode);
  };
  for (const auto episode : study.clique_episodes())
    if (groups[at(episode)] >= 0) add(episode);
  const auto each = members.empty() ? 0 : std::max<std::int64_t>(1, count / std::ssize(members));
  for (const auto& [label, group] : members) {
    const auto taken = std::min(each, std::ssize(group));
    for (std::int64_t i = 0; i < taken; ++i) add(group[at(i * std::ssize(group) / taken)]);
  }
  std::ranges::stable_sort(sample.episodes, {}, [&](std::int64_t i) { return groups[at(i)]; });
  for (std::int32_t i = 0; i < std::ssize(sample.episodes); ++i)
    for (std::int32_t j = i + 1; j < std::ssize(sample.episodes); ++j)
      if (study.graph.behaviours.conflict(behaviour[at(sample.episodes[at(i)])],
                                          behaviour[at(sample.episodes[at(j)])]))
        sample.edges.emplace_back(i, j);
  return sample;
}

}  // namespace kindred
