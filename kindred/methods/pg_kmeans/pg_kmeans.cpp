#include "kindred/methods/pg_kmeans/pg_kmeans.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kindred/clustering/stoppable.h"
#include "kindred/core/error.h"
#include "kindred/core/stopwatch.h"
#include "kindred/methods/pg_kmeans/learner.h"
#include "kindred/methods/pg_kmeans/state.h"
#include "kindred/policies/merge.h"

namespace kindred::pg_kmeans {
namespace {

struct Timings {
  double m_step = 0.0;
  double e_step = 0.0;
  double checkpoint = 0.0;
};

/// Slots of the running restarts' living clusters; only those with members when `occupied`.
std::vector<std::int64_t> living_slots(const State& state, std::int64_t k, bool occupied) {
  std::vector<std::int64_t> slots;
  for (std::size_t r = 0; r < state.restarts.size(); ++r) {
    const auto& restart = state.restarts[r];
    if (restart.phase == Phase::kDone) continue;
    const auto sizes = restart.sizes();
    for (std::size_t c = 0; c < sizes.size(); ++c)
      if (restart.alive[c] && (!occupied || sizes[c] > 0))
        slots.push_back(static_cast<std::int64_t>(r) * k + static_cast<std::int64_t>(c));
  }
  return slots;
}

/// The columns of `scores` that belong to one restart, as [episodes, k]; dead clusters are -inf.
Matrix scores_of(const Matrix& scores, std::span<const std::int64_t> slots, std::int64_t restart,
                 std::int64_t k) {
  Matrix result(scores.rows, k, -std::numeric_limits<double>::infinity());
  for (std::size_t s = 0; s < slots.size(); ++s)
    if (slots[s] / k == restart)
      for (std::int64_t i = 0; i < scores.rows; ++i)
        result(i, slots[s] % k) = scores(i, static_cast<std::int64_t>(s));
  return result;
}

/// M-step: each policy is cloned from its own trajectories.
void clone_policies(const State& state, const Options& options, Learner& learner) {
  const auto slots = living_slots(state, options.k, true);
  learner.fit(
      slots,
      [&](std::int64_t restart) {
        return std::span<const std::int32_t>(
            state.restarts[static_cast<std::size_t>(restart)].labels);
      },
      state.round);
}

/// E-step for one restart: each trajectory goes to its most likely policy. A trajectory stays where
/// it is on a tie, so every change raises the objective.
void assign_trajectories(Restart& restart, const Matrix& scores) {
  restart.objective = 0.0;
  restart.changed = 0;
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    auto& label = restart.labels[static_cast<std::size_t>(i)];
    std::int64_t best = label;
    for (std::int64_t c = 0; c < scores.columns; ++c)
      if (scores(i, c) > scores(i, best)) best = c;
    restart.objective += scores(i, best);
    restart.changed += best != label;
    label = static_cast<std::int32_t>(best);
  }
}

/// Refills `cluster` with the trajectories that are explained worst per step.
void reseed(Restart& restart, std::int64_t cluster, const Matrix& scores,
            const Trajectories& data) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.episodes()));
  std::iota(order.begin(), order.end(), 0);
  const auto per_step = [&](std::int64_t i) {
    return scores(i, restart.labels[static_cast<std::size_t>(i)]) /
           static_cast<double>(data.length(i));
  };
  const auto share = std::max<std::int64_t>(1, data.episodes() / (2 * scores.columns));
  std::ranges::nth_element(order, order.begin() + share - 1, {}, per_step);
  for (std::int64_t i = 0; i < share; ++i)
    restart.labels[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] =
        static_cast<std::int32_t>(cluster);
  ++restart.reseeds;
}

/// An emptied cluster keeps its policy for one round, then is reseeded or given up.
/// Returns whether any cluster was reseeded.
bool handle_empty_clusters(Restart& restart, std::int64_t index, const Matrix& scores,
                           const Trajectories& data, const Options& options, std::int64_t round,
                           Learner& learner) {
  bool reseeded = false;
  const auto sizes = restart.sizes();
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    auto& empty_rounds = restart.empty_rounds[c];
    empty_rounds = sizes[c] > 0 ? 0 : empty_rounds + 1;
    if (!restart.alive[c] || empty_rounds < 2) continue;
    if (options.empty_cluster == EmptyCluster::kReseed && restart.reseeds < options.k) {
      const auto cluster = static_cast<std::int64_t>(c);
      reseed(restart, cluster, scores, data);
      learner.reinitialise(index * options.k + cluster, round);
      empty_rounds = 0;
      reseeded = true;
    } else {
      restart.alive[c] = 0;
    }
  }
  return reseeded;
}

/// Ends the fitting of a restart: empty clusters go, then clusters are merged down to k*.
void merge(Restart& restart, const Matrix& scores, const Options& options) {
  restart.objective_before_merge = restart.objective;
  const auto sizes = restart.sizes();
  for (std::size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] == 0) restart.alive[c] = 0;
  restart.merges =
      merge_clusters(scores, options.merge_to, options.merge_rule, restart.labels, restart.alive);
  if (!restart.merges.empty()) restart.objective = restart.merges.back().objective;
}

/// Moves a restart on once its labels have settled or its rounds are used up: from fitting over
/// merging to refining, and to its end.
void advance_phase(Restart& restart, std::int64_t index, const Matrix& scores,
                   const Options& options, std::int64_t round, Learner& learner) {
  const auto allowed = static_cast<std::int64_t>(options.change_tolerance *
                                                 static_cast<double>(restart.labels.size()));
  restart.converged = restart.changed <= allowed;
  if (!restart.converged && restart.phase_rounds < options.max_rounds) return;

  const bool fitted = restart.phase == Phase::kFitting;
  if (fitted) merge(restart, scores, options);
  if (!fitted || !options.refine) {
    restart.phase = Phase::kDone;
    return;
  }
  // Policies that went through all rounds remember single trajectories they were once given; new
  // ones know only what their cluster has in common.
  restart.phase = Phase::kRefining;
  restart.phase_rounds = 0;
  for (std::size_t c = 0; c < restart.alive.size(); ++c)
    if (restart.alive[c])
      learner.reinitialise(index * options.k + static_cast<std::int64_t>(c), round);
}

/// E-step: scores every trajectory under every living policy, then lets each restart move on.
void assign_all(State& state, const Trajectories& data, const Options& options, Learner& learner,
                double seconds) {
  const auto slots = living_slots(state, options.k, false);
  const Matrix all_scores = learner.score(slots);
  for (std::size_t r = 0; r < state.restarts.size(); ++r) {
    auto& restart = state.restarts[r];
    if (restart.phase == Phase::kDone) continue;
    const auto index = static_cast<std::int64_t>(r);
    const Matrix scores = scores_of(all_scores, slots, index, options.k);
    assign_trajectories(restart, scores);
    ++restart.rounds;
    ++restart.phase_rounds;
    state.trace.push_back(
        {index, restart.rounds, restart.objective, restart.changed, restart.sizes(), seconds});
    if (!handle_empty_clusters(restart, index, scores, data, options, state.round, learner))
      advance_phase(restart, index, scores, options, state.round, learner);
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
                    .running = std::ranges::count_if(
                        state.restarts, [](const auto& r) { return r.phase != Phase::kDone; }),
                    .sizes = best.sizes(),
                    .seconds = seconds};
  std::erase(progress.sizes, 0);
  run.report(progress);
}

Clustering conclude(const State& state, const Options& options, const Learner& learner) {
  Clustering result;
  result.method = "pg-kmeans";
  result.score_meaning = "log-likelihood";
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
  const auto sizes = best.sizes();
  for (std::size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] > 0)
      slots.push_back(result.best_restart * options.k + static_cast<std::int64_t>(c));
  result.scores = learner.score(slots);
  result.centres = learner.centres(slots);
  return result;
}

/// `rounds`: those that are complete and, where there is a checkpoint, saved.
Clustering fit_rounds(const Trajectories& data, const Options& options, const RunContext& run,
                      std::int64_t& rounds) {
  const Stopwatch clock;
  Timings timings;
  const auto learner = make_learner(data, options, run);
  const bool resuming = run.resume && std::filesystem::exists(run.checkpoint);
  State state =
      resuming ? load_state(*learner, options, data, run.checkpoint) : start(data, options, run);

  rounds = state.round;
  while (state.running()) {
    ++state.round;
    timed(timings.m_step, [&] { clone_policies(state, options, *learner); });
    timed(timings.e_step, [&] { assign_all(state, data, options, *learner, clock.seconds()); });
    if (!run.checkpoint.empty())
      timed(timings.checkpoint, [&] { save_state(state, *learner, options, run.checkpoint); });
    rounds = state.round;
    report(state, options, run, clock.seconds());
    run.throw_if_stopped();
  }

  Clustering result = conclude(state, options, *learner);
  result.seconds = clock.seconds();
  result.timings = {{"m_step", timings.m_step},
                    {"e_step", timings.e_step},
                    {"checkpoint", timings.checkpoint},
                    {"rounds", state.round}};
  return result;
}

}  // namespace

Clustering fit(const Trajectories& data, const Options& requested, const RunContext& run) {
  const Options options = resolve(requested, data);
  return stoppable([&](std::int64_t& rounds) { return fit_rounds(data, options, run, rounds); });
}

}  // namespace kindred::pg_kmeans
