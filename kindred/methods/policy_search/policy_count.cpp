#include "kindred/methods/policy_search/policy_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kindred/conflicts/colouring_search.h"
#include "kindred/methods/policy_search/conflicts/partition_conflicts.h"
#include "kindred/methods/policy_search/drift.h"

namespace kindred::policy_search {
namespace {

/// The fewest policies that explain the clusters: clusters that never conflict may be of one. In a
/// state of its own for every conflict the two clusters chose differently.
std::int64_t least_policies_of(const Answer& answer) {
  std::vector<std::vector<std::int64_t>> choices(static_cast<std::size_t>(answer.fit.k));
  std::int64_t state = 0;
  for (const auto& pair : answer.pairs) {
    if (pair.relation != Relation::kDifferent) continue;
    choices[static_cast<std::size_t>(pair.first)].push_back(2 * state);
    choices[static_cast<std::size_t>(pair.second)].push_back(2 * state + 1);
    ++state;
  }
  std::ranges::stable_sort(choices, std::ranges::greater{},
                           [](const auto& of) { return of.size(); });
  const auto behaviours = make_behaviours(choices, 2);
  for (std::int32_t k = 1;; ++k)
    if (search_colouring(behaviours, k, {}, {.nodes = 100'000}).verdict != Verdict::kImpossible)
      return k;
}

std::optional<BestTwo> best_two(const std::vector<Answer>& answers) {
  const auto found =
      std::ranges::find_if(answers, [](const Answer& answer) { return answer.fit.k == 2; });
  if (found == answers.end() || found->pairs.empty()) return std::nullopt;
  const auto second = std::ranges::count(found->fit.labels, 1);
  return BestTwo{.sizes = {std::ssize(found->fit.labels) - second, second},
                 .v = found->held_out.v,
                 .pair = found->pairs.front()};
}

Drift drift_of(const Proposals& sight, const Answer& answer) {
  const auto& evidence = *sight.policies;
  const auto of_pieces =
      evidence.costs_everywhere(answer.fit.labels, answer.fit.k, answer.held_out);
  Matrix costs(evidence.episodes(), answer.fit.k);
  for (std::int64_t i = 0; i < costs.rows; ++i)
    for (auto p = evidence.first_piece(i); p < evidence.first_piece(i + 1); ++p)
      for (std::int64_t j = 0; j < costs.columns; ++j)
        costs(i, j) += of_pieces(p, j) / static_cast<double>(sight.data.length(i));
  return look_for_drift(answer.fit.labels, costs);
}

/// Why the number is not sure; nothing where it is.
std::string doubt_of_several(const Proposals& sight, const Answer& answer, const PolicyCount& count,
                             const Rules& rules) {
  if (count.least < answer.fit.k)
    return fmt::format("{} would explain the data as well as anything seen", count.least);
  if (count.most > answer.fit.k) return fmt::format("up to {} may be different", count.most);
  for (std::size_t i = 1; i < sight.answers.size(); ++i)
    if (sight.answers[i].fit.k > answer.fit.k && sight.predicts_better(i, rules))
      return "more clusters predict better, though no like states tell them apart";
  if (count.persistence < rules.surely_persists)
    return fmt::format("half of the steps leads to other labels (NMI {:.2f})", count.persistence);
  if (std::ranges::any_of(count.pairs, &PairVerdict::alike_later))
    return "some act alike later: one policy that chooses once an episode would explain them";
  for (const auto& pair : count.pairs)
    if (const double z = std::min(pair.z, pair.foretold); z < rules.surely_different)
      return fmt::format("two differ by {:.1f} standard errors; from {:.0f} on it would be sure", z,
                         rules.surely_different);
  return "";
}

std::string doubt_of_one(const Proposals& sight, const PolicyCount& count, const Rules& rules) {
  const auto& episodes = sight.episodes;
  if (count.most > 1)
    return fmt::format("whether {} groups differ could not be decided", count.most);
  const auto explained = std::ranges::find_if(sight.answers, [&](const Answer& answer) {
    return answer.is_one_policy_as_well && rules.conflict(answer.conflict, answer.foretold);
  });
  if (explained != sight.answers.end())
    return fmt::format("{} groups seem to differ, but a richer policy would explain them",
                       explained->fit.k);
  if (!episodes.known) return "too few episodes have been in like states";
  if (episodes.z >= rules.differ_little)
    return "episodes act differently in like states, but no groups of them do";
  if (!act_alike(episodes, rules)) return "too few like states to see a small difference";
  const auto& one = sight.answers.front();
  for (const auto& other : std::span(sight.answers).subspan(1)) {
    const auto gain = sight.policies->gain(one.held_out, other.held_out);
    if (gain.mean > kErrors * gain.error)
      return fmt::format("{} predict better, though they act alike", other.fit.k);
    for (const auto& pair : other.pairs)
      if (pair.relation != Relation::kSame || pair.z >= rules.differ_little)
        return fmt::format("of {} groups, two may differ", other.fit.k);
  }
  return "";
}

}  // namespace

PolicyCount count_policies(const Proposals& sight, std::size_t chosen, const Rules& rules) {
  const auto& answers = sight.answers;
  const auto& answer = answers[chosen];
  PolicyCount count;
  count.view = name_of(sight.view);
  count.pairs = answer.pairs;
  count.persistence = answer.persistence;
  count.episodes = sight.episodes;
  count.least = least_policies_of(answer);
  count.most = answer.fit.k;
  for (std::size_t i = chosen + 1; i < answers.size(); ++i)
    if (none_same(answers[i], rules) && sight.predicts_better(i, rules))
      count.most = answers[i].fit.k;
  if (answer.fit.k == 1) count.best_two = best_two(answers);
  const auto drift = drift_of(sight, answer);
  if (std::min(drift.z, drift.z_within) >= rules.different) {
    count.least = 1;
    count.doubt = in_words(drift, sight.data.ids);
  } else {
    count.doubt = answer.fit.k > 1 ? doubt_of_several(sight, answer, count, rules)
                                   : doubt_of_one(sight, count, rules);
  }
  count.sure = count.doubt.empty();
  return count;
}

bool act_alike(const EpisodeEffect& episodes, const Rules& rules) {
  return episodes.known && std::abs(episodes.z) < rules.differ_little &&
         episodes.share + kErrors * episodes.error < rules.episode_share;
}

}  // namespace kindred::policy_search
