#include "kindred/methods/sorl/sorl.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "kindred/clustering/stoppable.h"
#include "kindred/core/error.h"
#include "kindred/methods/sorl/mixture.h"
#include "kindred/policies/merge.h"
#include "kindred/policies/restarts.h"

namespace kindred::sorl {
namespace {

using nlohmann::json;

/// How a restart's objective has risen so far.
struct Rise {
  double best = -std::numeric_limits<double>::infinity();
  double plateau = -std::numeric_limits<double>::infinity();  // at the last progress
  std::int64_t plateau_rounds = 0;                            // since then
};

struct State {
  Restarts restarts;
  std::vector<Rise> rises;  // [restarts]
};

json save(const State& state, const Mixture& mixture, ArrayFileWriter& file) {
  mixture.save(file);
  json saved = json::array();
  for (const auto& rise : state.rises)
    saved.push_back({saved_number(rise.best), saved_number(rise.plateau), rise.plateau_rounds});
  return saved;
}

void restore(const json& saved, const ArrayFileReader& file, State& state, Mixture& mixture) {
  for (std::size_t r = 0; r < state.rises.size(); ++r)
    state.rises[r] = {restored_number(saved.at(r).at(0)), restored_number(saved[r].at(1)),
                      saved[r].at(2)};
  mixture.load(file);
}

/// Every trajectory under the k policies of one restart.
struct Scores {
  Matrix posterior;       // [episodes, k]: the log of the posterior, less a constant per row
  Matrix log_likelihood;  // [episodes, k]
};

Scores score(const Mixture& mixture, const Options& options, std::int64_t restart) {
  std::vector<std::int64_t> slots(static_cast<std::size_t>(options.k));
  std::iota(slots.begin(), slots.end(), restart * options.k);
  Scores scores;
  scores.posterior = mixture.score(slots, options.over_steps());
  scores.log_likelihood = options.posterior == Posterior::kProduct
                              ? scores.posterior
                              : mixture.score(slots, OverSteps::kSumOfLogs);
  return scores;
}

/// Σ_τ Σ_z p(z|τ) log P(τ|z).
double expected_log_likelihood(const Scores& scores) {
  const Matrix shares = posteriors(scores.posterior, scores.posterior.columns);
  double sum = 0.0;
  for (std::size_t i = 0; i < shares.values.size(); ++i)
    if (shares.values[i] > 0.0) sum += shares.values[i] * scores.log_likelihood.values[i];
  return sum;
}

/// Gives each trajectory to the policy with the largest share in it.
void label(Restart& restart, const Scores& scores, const Options& options) {
  auto labels = best_columns(scores.posterior);
  restart.changed = std::transform_reduce(labels.begin(), labels.end(), restart.labels.begin(),
                                          std::int64_t{0}, std::plus<>(), std::not_equal_to<>());
  restart.labels = std::move(labels);
  restart.objective = expected_log_likelihood(scores);
  if (!std::isfinite(restart.objective))
    throw NumericError("training diverged (objective {}); lower learning-rate, now {}",
                       restart.objective, options.learning_rate);
}

/// Ends a restart whose objective has not risen for some rounds, or whose rounds are used up. Only
/// one whose labels have settled too has converged: shares that are nearly equal never settle.
void end_on_plateau(Restart& restart, Rise& rise, const Options& options, std::int64_t steps) {
  const double gain = restart.objective - rise.plateau;
  ++rise.plateau_rounds;
  if (gain >= options.plateau_tolerance * static_cast<double>(steps)) {
    rise.plateau = restart.objective;
    rise.plateau_rounds = 0;
  }
  const bool plateau = rise.plateau_rounds >= options.plateau_rounds;
  restart.converged = plateau && restart.settled(options.change_tolerance);
  if (plateau || restart.rounds >= options.max_rounds) restart.phase = Phase::kDone;
}

/// Gives up policies until k* are left; the others' shares grow to fill the gap.
void merge(Restart& restart, Scores& scores, const Options& options) {
  std::vector<std::uint8_t> alive;
  for (const auto size : restart.sizes(options.k)) alive.push_back(size > 0);
  restart.merges = merge_clusters(scores.log_likelihood, options.merge_to, options.merge_rule,
                                  restart.labels, alive);
  if (restart.merges.empty()) return;
  restart.objective_before_merge = restart.objective;
  for (std::size_t i = 0; i < scores.posterior.values.size(); ++i)
    if (!alive[i % alive.size()])
      scores.posterior.values[i] = -std::numeric_limits<double>::infinity();
  restart.labels = best_columns(scores.posterior);
  restart.objective = expected_log_likelihood(scores);
}

/// Goes back to the best round, since Adam now and then leaves a perfect fit abruptly, and merges.
void finish(Restart& restart, std::int64_t index, const Options& options, Mixture& mixture) {
  mixture.restore(index);
  auto scores = score(mixture, options, index);
  label(restart, scores, options);
  merge(restart, scores, options);
}

/// Labels all trajectories in each running restart, and ends those on a plateau.
void label_all(State& state, const Trajectories& data, const Options& options, Mixture& mixture) {
  for (const auto index : state.restarts.running()) {
    auto& restart = state.restarts[index];
    auto& rise = state.rises[static_cast<std::size_t>(index)];
    label(restart, score(mixture, options, index), options);
    state.restarts.note_round(index);
    if (restart.objective > rise.best) {
      rise.best = restart.objective;
      mixture.keep(index);
    }
    end_on_plateau(restart, rise, options, data.steps());
    if (restart.phase == Phase::kDone) finish(restart, index, options, mixture);
  }
}

}  // namespace

Clustering fit(const Trajectories& data, const Options& requested, const RunContext& run) {
  const Options options = resolve(requested, data);
  return stoppable([&](std::int64_t& rounds) {
    State state{Restarts({.method = "sorl",
                          .options = to_json(Options(options).describe()),
                          .k = options.k,
                          .restarts = options.restarts,
                          .most_rounds = options.max_rounds},
                         data, run),
                std::vector<Rise>(static_cast<std::size_t>(options.restarts))};
    auto& restarts = state.restarts;
    const auto mixture = make_mixture(data, options, run);
    restarts.resume([&](const json& saved, const ArrayFileReader& file) {
      restore(saved, file, state, *mixture);
    });

    for (rounds = restarts.round(); restarts.next_round(); rounds = restarts.round()) {
      restarts.timed("training", [&] { mixture->train(restarts.running(), restarts.round()); });
      restarts.timed("scoring", [&] { label_all(state, data, options, *mixture); });
      restarts.end_round([&](ArrayFileWriter& file) { return save(state, *mixture, file); });
    }
    return restarts.conclude(
        options.posterior == Posterior::kProduct ? "log-likelihood"
                                                 : "log of the summed probabilities of the steps",
        [&](Restarts::Slots slots) { return mixture->score(slots, options.over_steps()); },
        [&](Restarts::Slots slots) { return mixture->centres(slots); });
  });
}

}  // namespace kindred::sorl
