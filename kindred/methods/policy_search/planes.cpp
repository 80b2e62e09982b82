#include "kindred/methods/policy_search/planes.h"

#include <numeric>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/stopwatch.h"
#include "kindred/methods/policy_search/constraints.h"
#include "kindred/methods/policy_search/evidence/plane_search.h"
#include "kindred/methods/policy_search/partitions/alternatives.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/policies/plane_centres.h"

namespace kindred::policy_search {
namespace {

RestartSummary summary(const PlaneAnswer& answer, std::int64_t number) {
  RestartSummary result;
  result.restart = number;
  result.iterations = std::ssize(answer.rounds);
  result.converged = true;  // the held-out score fell from there on
  result.objective = result.objective_before_merge = answer.rounds.back().objective;
  result.labels = answer.labels;
  return result;
}

/// Clusters in another order.
void renumber(std::span<const std::int32_t> number, PlaneAnswer& answer) {
  for (auto& label : answer.labels) label = number[static_cast<std::size_t>(label)];
  const auto before = answer;
  for (std::int64_t j = 0; j < answer.k(); ++j) {
    const auto to = number[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < answer.scores.rows; ++i)
      answer.scores(i, to) = before.scores(i, j);
    for (const auto half : {std::int64_t{0}, answer.k()})
      answer.networks[static_cast<std::size_t>(half + to)] =
          before.networks[static_cast<std::size_t>(half + j)];
    for (std::size_t r = 0; r < answer.rounds.size(); ++r)
      answer.rounds[r].sizes[static_cast<std::size_t>(to)] =
          before.rounds[r].sizes[static_cast<std::size_t>(j)];
  }
}

void add_trace(const PlaneAnswer& answer, std::int64_t number, std::vector<TraceEntry>& trace) {
  for (std::size_t round = 0; round < answer.rounds.size(); ++round)
    trace.push_back({.restart = number,
                     .iteration = static_cast<std::int64_t>(round) + 1,
                     .objective = answer.rounds[round].objective,
                     .changed = answer.rounds[round].changed,
                     .sizes = answer.rounds[round].sizes});
}

}  // namespace

Clustering fit_on_planes(const Trajectories& data, const Options& options, const RunContext& run) {
  require_cpu(run, "the search by the held-out score");
  const Stopwatch clock;
  const auto constraints = load_constraints(data, options);
  auto found = search_planes(data,
                             {.k = options.k,
                              .k_max = options.k_max,
                              .seed = options.seed,
                              .ridge = options.l2,
                              .links = constraints.links},
                             run);
  auto& answer = found.answers[found.chosen];
  std::vector<std::int64_t> all(answer.labels.size());
  std::iota(all.begin(), all.end(), 0);
  renumber(constraints.numbers(answer.labels, all, answer.k()), answer);
  Clustering result;
  result.method = "policy-search";
  result.labels = answer.labels;
  result.score_meaning = "log-likelihood";
  result.objective = answer.rounds.back().objective;
  result.iterations = std::ssize(answer.rounds);
  result.converged = true;
  result.options = to_json(Options(options).describe());
  result.centres =
      std::make_shared<PlaneCentres>(found.view, data.actions.count(), answer.networks);
  result.scores = score_everywhere(*result.centres, data, run);
  result.k_found = options.k == 0;
  const auto& one = found.answers.front();
  for (const auto& at_k : found.answers) {
    auto& considered = result.considered.emplace_back();
    considered.k = at_k.k();
    considered.v = at_k.v;
    considered.gain = at_k.gain.mean;
    considered.gain_error = at_k.gain.error;
  }
  const auto gain = paired_gain(one.costs, answer.costs, static_cast<double>(data.steps()));
  result.judgement = {.v = answer.v,
                      .v_of_one = one.v,
                      .gain = gain.mean,
                      .gain_error = gain.error,
                      .judged = data.episodes()};
  result.restarts.push_back(summary(answer, 0));
  add_trace(answer, 0, result.trace);
  result.agreement = Agreement{.verdict = "single", .good = 1, .same = 1};
  if (!found.again.rounds.empty()) {
    const auto& again = found.again;
    const double nmi = normalized_mutual_information(again.labels, answer.labels);
    const bool same = nmi >= kSameLabels,
               as_good = answer.v - again.v < kAsGood * (answer.v - one.v);
    result.restarts.push_back(summary(again, 1));
    add_trace(again, 1, result.trace);
    result.considered[found.chosen].agreement = nmi;
    if (!same && as_good)
      result.alternatives.push_back({.labels = again.labels, .v = again.v, .nmi = nmi});
    result.agreement = Agreement{.verdict = same      ? "unique"
                                            : as_good ? "several"
                                                      : "unstable",
                                 .good = as_good ? 2 : 1,
                                 .same = same ? 2 : 1,
                                 .mean_nmi = nmi,
                                 .least_nmi = nmi};
  }
  result.seconds = clock.seconds();
  return result;
}

}  // namespace kindred::policy_search
