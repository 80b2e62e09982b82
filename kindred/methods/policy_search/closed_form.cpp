#include "kindred/methods/policy_search/closed_form.h"

#include <algorithm>
#include <limits>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/resources.h"
#include "kindred/core/stopwatch.h"
#include "kindred/methods/policy_search/constraints.h"
#include "kindred/methods/policy_search/search.h"
#include "kindred/metrics/clustering_scores.h"

namespace kindred::policy_search {
namespace {

/// Labels of all episodes: those of the searched ones as found, of the others by their scores.
std::vector<std::int32_t> of_all(const Matrix& scores, std::span<const std::int64_t> searched,
                                 std::span<const std::int32_t> found) {
  auto labels = best_columns(scores);
  for (std::size_t i = 0; i < searched.size(); ++i)
    labels[static_cast<std::size_t>(searched[i])] = found[i];
  return labels;
}

/// Whether other starts led to the answer, and whether others are as good.
Agreement judge_answer(const SearchResult& found) {
  if (found.restarts.size() < 2) return {.verdict = "single", .good = 1, .same = 1};
  Agreement result;
  result.good = 1 + std::ssize(found.alternatives);
  double sum = 0.0;
  for (const auto& restart : found.restarts) {
    const double nmi = normalized_mutual_information(restart.labels, found.answer().fit.labels);
    if (nmi < kSameLabels) continue;
    ++result.same;
    sum += nmi;
    result.least_nmi = std::min(result.least_nmi, nmi);
  }
  if (result.same > 0) result.mean_nmi = sum / static_cast<double>(result.same);
  for (const auto& other : found.alternatives)
    result.least_nmi = std::min(result.least_nmi, normalized_mutual_information(
                                                      other.fit.labels, found.answer().fit.labels));
  result.verdict = result.good > 1 ? "several" : result.same > 1 ? "unique" : "unstable";
  return result;
}

constexpr double kClearPiece = 20.0;  // nats by which a piece is one policy's and no other's

/// What the pieces of an episode say of who made it.
struct PieceWitness {
  Matrix scores;                   // [1, k]: of the whole episode
  std::vector<std::uint8_t> made;  // [k]: whether some piece clearly is the policy's
};

PieceWitness ask_pieces(const Evidence& evidence, const Matrix& costs, std::int64_t episode) {
  const auto k = costs.columns;
  PieceWitness witness{Matrix(1, k), std::vector<std::uint8_t>(static_cast<std::size_t>(k), 0)};
  for (auto p = evidence.first_piece(episode); p < evidence.first_piece(episode + 1); ++p) {
    Matrix piece(1, k);
    for (std::int64_t j = 0; j < k; ++j) piece(0, j) = -costs(p, j);
    for (std::int64_t j = 0; j < k; ++j) witness.scores(0, j) += piece(0, j);
    const auto best = best_columns(piece);
    if (margins(piece, best).front() > kClearPiece)
      witness.made[static_cast<std::size_t>(best.front())] = 1;
  }
  return witness;
}

/// How sure labels are by policies that have not seen the episodes: [searched].
struct HeldOut {
  std::vector<double> margins;
  std::vector<std::uint8_t> mixed;  // whether parts clearly are of different policies

  std::int64_t count_mixed() const { return std::ranges::count(mixed, 1); }
};

HeldOut ask_held_out(const Evidence& evidence, const Answer& answer) {
  const auto& labels = answer.fit.labels;
  HeldOut result;
  if (answer.fit.k < 2) return result;
  const auto costs = evidence.costs_everywhere(labels, answer.fit.k, answer.held_out);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto witness = ask_pieces(evidence, costs, static_cast<std::int64_t>(i));
    result.margins.push_back(margins(witness.scores, {&labels[i], 1}).front());
    result.mixed.push_back(std::ranges::count(witness.made, 1) > 1);
  }
  return result;
}

constexpr std::int64_t kFewMixed = 3;  // that may be just odd
constexpr double kShareMixed = 0.03;
constexpr int kSearches = 3;

/// What was found on which episodes, and how many look made by several policies.
struct Searched {
  SearchResult found;
  std::vector<std::int64_t> episodes;
  HeldOut held_out;
  std::int64_t mixed = 0;
};

/// Episodes in which policies took turns make clusters of their own and blur those of others, so
/// where there are many, but not most, the policies are looked for once more without them.
Searched search_pure(const Trajectories& data, SearchOptions asked, const Links& links,
                     const RunContext& run) {
  Searched result{.found = {}, .episodes = episodes_to_search(data, asked), .held_out = {}};
  const auto looked_at = std::ssize(result.episodes);
  for (int search = 0; search < kSearches; ++search) {
    asked.links = links.among(result.episodes);
    result.found = search_by_conflicts(fetch_episodes(data, result.episodes, run), asked, run);
    result.held_out =
        ask_held_out(*result.found.evidence, result.found.answers[result.found.chosen]);
    const auto mixed = result.held_out.count_mixed();
    const bool many = mixed >= kFewMixed &&
                      static_cast<double>(mixed) > kShareMixed * static_cast<double>(looked_at);
    if (!many) break;
    result.mixed += mixed;
    std::vector<std::int64_t> pure;
    for (std::size_t i = 0; i < result.episodes.size(); ++i)
      if (!result.held_out.mixed[i]) pure.push_back(result.episodes[i]);
    if (2 * std::ssize(pure) < looked_at || search + 1 == kSearches) break;
    result.episodes = std::move(pure);
  }
  return result;
}

}  // namespace

Clustering fit_in_closed_form(const Trajectories& data, const Options& options, bool tables,
                              const RunContext& run) {
  if (tables) require_cpu(run, "the search with tables");
  const Stopwatch clock;
  const double cpu_before = cpu_seconds();
  const auto constraints = load_constraints(data, options);
  const SearchOptions asked{.tables = tables,
                            .k = options.k,
                            .k_max = options.k_max,
                            .starts = options.restarts,
                            .seed = options.seed,
                            .cosines = options.random_features,
                            .ridge = options.l2,
                            .links = constraints.links};
  auto [found, searched, held_out, mixed] = search_pure(data, asked, constraints.links, run);
  const bool all = std::ssize(searched) == data.episodes();
  auto& answer = found.answers[found.chosen];
  const auto number = constraints.numbers(answer.fit.labels, searched, answer.fit.k);
  for (auto& label : answer.fit.labels) label = number[static_cast<std::size_t>(label)];
  const Stopwatch over_all;
  const double cpu_searched = cpu_seconds();
  const auto& recorded = found.recorded ? *found.recorded : *found.evidence;
  const auto held_out_as_recorded =
      found.recorded ? recorded.score(answer.fit.labels, answer.fit.k) : answer.held_out;
  auto centres = recorded.centres(answer.fit.labels, answer.fit.k, held_out_as_recorded);
  if (!all) {
    run.report({.stage = "all episodes", .fraction = 0.0, .sizes = {}});
    const auto labels = of_all(score_everywhere(*centres, data, run), searched, answer.fit.labels);
    centres = recorded.centres_on(data, labels, answer.fit.k, held_out_as_recorded, run);
  }
  Clustering result;
  result.method = "policy-search";
  auto scores = all ? recorded.scores(*centres) : std::nullopt;
  result.scores = scores ? std::move(*scores) : score_everywhere(*centres, data, run);
  result.labels = of_all(result.scores, searched, answer.fit.labels);
  const double all_seconds = over_all.seconds(), cpu_all = cpu_seconds();
  constraints.links.enforce(result.labels, answer.fit.k);
  result.score_meaning = "log-likelihood";
  result.objective = answer.fit.objective();
  result.iterations = std::ssize(answer.fit.rounds);
  result.converged = answer.fit.converged;
  result.options = to_json(Options(options).describe());
  result.centres = centres;
  result.held_out_fit =
      recorded.held_out_fit(answer.fit.labels, answer.fit.k, held_out_as_recorded);
  if (!held_out.margins.empty())
    result.held_out_margins.assign(static_cast<std::size_t>(data.episodes()),
                                   std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < held_out.margins.size(); ++i)
    result.held_out_margins[static_cast<std::size_t>(searched[i])] = held_out.margins[i];
  result.mixed_episodes = mixed;
  result.k_found = options.k == 0;
  for (const auto& answer_for_k : found.answers)
    result.considered.push_back(answer_for_k.in_brief());
  for (const auto& other : found.alternatives) {
    const auto policies = recorded.centres(
        other.fit.labels, other.fit.k,
        found.recorded ? recorded.score(other.fit.labels, other.fit.k) : other.held_out);
    result.alternatives.push_back(
        {.labels = all ? other.fit.labels
                       : of_all(score_everywhere(*policies, data, run), searched, other.fit.labels),
         .v = other.held_out.v,
         .nmi = normalized_mutual_information(other.fit.labels, answer.fit.labels)});
  }
  const auto& one = found.answers.front();
  const auto gain = found.evidence->gain(one.held_out, answer.held_out);
  result.judgement = {.v = answer.held_out.v,
                      .v_of_one = one.held_out.v,
                      .gain = gain.mean,
                      .gain_error = gain.error,
                      .judged = std::ssize(searched)};
  result.agreement = judge_answer(found);
  result.count = found.count;
  for (auto& restart : found.restarts) {  // the others have no label from it
    std::vector<std::int32_t> labels(static_cast<std::size_t>(data.episodes()), -1);
    for (std::size_t i = 0; i < searched.size(); ++i)
      labels[static_cast<std::size_t>(searched[i])] = restart.labels[i];
    restart.labels = std::move(labels);
  }
  result.searched = std::ssize(searched);
  result.restarts = std::move(found.restarts);
  result.best_restart = found.best_restart;
  result.trace = std::move(found.trace);
  result.timings = {{"statistics", found.statistics_seconds},
                    {"all_trajectories", all_seconds},
                    {"cpu_before", cpu_before},
                    {"cpu_search", cpu_searched - cpu_before},
                    {"cpu_all_trajectories", cpu_all - cpu_searched}};
  result.seconds = clock.seconds();
  return result;
}

}  // namespace kindred::policy_search
