#include "kindred/methods/sorl/sorl.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "kindred/clustering/stoppable.h"
#include "kindred/core/error.h"
#include "kindred/core/stopwatch.h"
#include "kindred/methods/sorl/mixture.h"
#include "kindred/methods/sorl/state.h"
#include "kindred/policies/merge.h"

namespace kindred::sorl {
namespace {

struct Timings {
  double training = 0.0;
  double scoring = 0.0;
  double checkpoint = 0.0;
};

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
  restart.objective = restart.objective_before_merge = expected_log_likelihood(scores);
  if (!std::isfinite(restart.objective))
    throw NumericError("training diverged (objective {}); lower learning-rate, now {}",
                       restart.objective, options.learning_rate);
}

/// Ends a restart whose objective has not risen for some rounds, or whose rounds are used up. Only
/// one whose labels have settled too has converged: shares that are nearly equal never settle.
void end_on_plateau(Restart& restart, const Options& options, std::int64_t steps) {
  const double gain = restart.objective - restart.plateau_objective;
  ++restart.plateau_rounds;
  if (gain >= options.plateau_tolerance * static_cast<double>(steps)) {
    restart.plateau_objective = restart.objective;
    restart.plateau_rounds = 0;
  }
  const auto allowed = static_cast<std::int64_t>(options.change_tolerance *
                                                 static_cast<double>(restart.labels.size()));
  const bool plateau = restart.plateau_rounds >= options.plateau_rounds;
  restart.converged = plateau && restart.changed <= allowed;
  restart.done = plateau || restart.rounds >= options.max_rounds;
}

/// Gives up policies until k* are left; the others' shares grow to fill the gap.
void merge(Restart& restart, Scores& scores, const Options& options) {
  std::vector<std::uint8_t> alive;
  for (const auto size : restart.sizes(options.k)) alive.push_back(size > 0);
  restart.merges = merge_clusters(scores.log_likelihood, options.merge_to, options.merge_rule,
                                  restart.labels, alive);
  if (restart.merges.empty()) return;
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
void label_all(State& state, const Trajectories& data, const Options& options, Mixture& mixture,
               double seconds) {
  for (const auto index : state.running()) {
    auto& restart = state.restarts[static_cast<std::size_t>(index)];
    label(restart, score(mixture, options, index), options);
    ++restart.rounds;
    state.trace.push_back({index, restart.rounds, restart.objective, restart.changed,
                           restart.sizes(options.k), seconds});
    if (restart.objective > restart.best_objective) {
      restart.best_objective = restart.objective;
      mixture.keep(index);
    }
    end_on_plateau(restart, options, data.steps());
    if (restart.done) finish(restart, index, options, mixture);
  }
}

void report(const State& state, const Options& options, const RunContext& run, double seconds) {
  const auto& best = state.restarts[static_cast<std::size_t>(state.best())];
  Progress progress{.stage = "round",
                    .iteration = state.round,
                    .max_iterations = options.max_rounds,
                    .fraction = 1.0,
                    .objective = best.objective,
                    .changed = best.changed,
                    .running = static_cast<std::int64_t>(state.running().size()),
                    .sizes = best.sizes(options.k),
                    .seconds = seconds};
  std::erase(progress.sizes, 0);
  run.report(progress);
}

Clustering conclude(const State& state, const Options& options, const Mixture& mixture) {
  Clustering result;
  result.method = "sorl";
  result.score_meaning = options.posterior == Posterior::kProduct
                             ? "log-likelihood"
                             : "log of the summed probabilities of the steps";
  result.options = to_json(Options(options).describe());
  result.trace = state.trace;
  std::vector<RestartSummary> restarts;
  for (std::size_t r = 0; r < state.restarts.size(); ++r) {
    const auto& restart = state.restarts[r];
    restarts.push_back({static_cast<std::int64_t>(r), restart.rounds, restart.converged,
                        restart.objective, restart.objective_before_merge, restart.merges,
                        consecutive_labels(restart.labels)});
  }
  adopt_best(std::move(restarts), result);

  const auto& best = state.restarts[static_cast<std::size_t>(result.best_restart)];
  std::vector<std::int64_t> slots;
  const auto sizes = best.sizes(options.k);
  for (std::size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] > 0)
      slots.push_back(result.best_restart * options.k + static_cast<std::int64_t>(c));
  result.scores = mixture.score(slots, options.over_steps());
  result.centres = mixture.centres(slots);
  return result;
}

/// `rounds`: those that are complete and, where there is a checkpoint, saved.
Clustering fit_rounds(const Trajectories& data, const Options& options, const RunContext& run,
                      std::int64_t& rounds) {
  const Stopwatch clock;
  Timings timings;
  Mixture mixture(data, options, run);
  const bool resuming = run.resume && std::filesystem::exists(run.checkpoint);
  State state =
      resuming ? load_state(mixture, options, data, run.checkpoint) : start(data, options);

  rounds = state.round;
  for (auto running = state.running(); !running.empty(); running = state.running()) {
    ++state.round;
    timed(timings.training, [&] { mixture.train(running, state.round); });
    timed(timings.scoring, [&] { label_all(state, data, options, mixture, clock.seconds()); });
    if (!run.checkpoint.empty())
      timed(timings.checkpoint, [&] { save_state(state, mixture, options, run.checkpoint); });
    rounds = state.round;
    report(state, options, run, clock.seconds());
    run.throw_if_stopped();
  }

  Clustering result = conclude(state, options, mixture);
  result.seconds = clock.seconds();
  result.timings = {{"training", timings.training},
                    {"scoring", timings.scoring},
                    {"checkpoint", timings.checkpoint},
                    {"rounds", state.round}};
  return result;
}

}  // namespace

Clustering fit(const Trajectories& data, const Options& requested, const RunContext& run) {
  if (run.device != "cpu")
    throw InvalidArgument("sorl trains on the CPU only; leave out --device {}", run.device);
  const Options options = resolve(requested, data);
  return stoppable([&](std::int64_t& rounds) { return fit_rounds(data, options, run, rounds); });
}

}  // namespace kindred::sorl
