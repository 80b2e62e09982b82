#include "kindred/methods/pg_kmeans/pg_kmeans.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kindred/clustering/stoppable.h"
#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/methods/pg_kmeans/episode_regression.h"
#include "kindred/methods/pg_kmeans/learner.h"
#include "kindred/methods/policy_search/policy_search.h"
#include "kindred/policies/merge.h"
#include "kindred/policies/restarts.h"

namespace kindred::pg_kmeans {
namespace {

using nlohmann::json;

/// Which clusters of a restart still take part.
struct Clusters {
  std::vector<std::uint8_t> alive;         // [k]: not merged away and not given up
  std::vector<std::int64_t> empty_rounds;  // [k]: rounds since the cluster had a member
  std::int64_t reseeds = 0;

  /// Whether the cluster gets new members when it stays empty, rather than being given up.
  bool refills(std::size_t cluster, const Options& options) const {
    return alive[cluster] && options.empty_cluster == EmptyCluster::kReseed && reseeds < options.k;
  }
};

struct State {
  Restarts restarts;
  std::vector<Clusters> clusters;  // [restarts]
};

/// Random equal partitions (or k-means on episode regressions), one per restart.
void start(State& state, const Trajectories& data, const Options& options, const Workers& workers) {
  for (std::int64_t r = 0; r < options.restarts; ++r) {
    auto& labels = state.restarts[r].labels;
    Random random(static_cast<std::uint64_t>(options.seed), "init", static_cast<std::uint64_t>(r));
    if (options.init == Initialisation::kEpisodeRegression) {
      labels = episode_regression_labels(data, options.k, random, workers);
    } else {
      for (std::size_t i = 0; i < labels.size(); ++i)
        labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(options.k));
      random.shuffle(std::span(labels));
    }
  }
}

json save(const State& state, const PolicyLearner& learner, ArrayFileWriter& file) {
  learner.save(file);
  json saved = json::array();
  for (const auto& clusters : state.clusters)
    saved.push_back({{"alive", clusters.alive},
                     {"empty_rounds", clusters.empty_rounds},
                     {"reseeds", clusters.reseeds}});
  return saved;
}

void restore(const json& saved, const ArrayFileReader& file, State& state, PolicyLearner& learner) {
  for (std::size_t r = 0; r < state.clusters.size(); ++r) {
    auto& clusters = state.clusters[r];
    const auto k = clusters.alive.size();
    const auto& j = saved.at(r);
    clusters = {j.at("alive").get<std::vector<std::uint8_t>>(),
                j.at("empty_rounds").get<std::vector<std::int64_t>>(), j.at("reseeds")};
    if (clusters.alive.size() != k || clusters.empty_rounds.size() != k)
      throw DataFormatError("a restart has {} clusters, expected {}", clusters.alive.size(), k);
  }
  learner.load(file);
}

/// Slots of the running restarts' living clusters; only those with members when `occupied`.
std::vector<std::int64_t> living_slots(const State& state, std::int64_t k, bool occupied) {
  std::vector<std::int64_t> slots;
  for (const auto r : state.restarts.running()) {
    const auto& alive = state.clusters[static_cast<std::size_t>(r)].alive;
    const auto sizes = state.restarts[r].sizes(k);
    for (std::size_t c = 0; c < sizes.size(); ++c)
      if (alive[c] && (!occupied || sizes[c] > 0))
        slots.push_back(r * k + static_cast<std::int64_t>(c));
  }
  return slots;
}

/// Those of them that belong to one restart.
std::vector<std::int64_t> slots_of(std::span<const std::int64_t> slots, std::int64_t restart,
                                   std::int64_t k) {
  std::vector<std::int64_t> own;
  std::ranges::copy_if(slots, std::back_inserter(own),
                       [&](std::int64_t slot) { return slot / k == restart; });
  return own;
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
void fit_policies(const State& state, const Options& options, PolicyLearner& learner) {
  const auto slots = living_slots(state, options.k, true);
  learner.fit(
      slots,
      [&](std::int64_t restart) {
        return std::span<const std::int32_t>(state.restarts[restart].labels);
      },
      state.restarts.round());
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
}

/// An emptied cluster keeps its policy for one round, then is reseeded or given up.
/// Returns whether any cluster was reseeded.
bool handle_empty_clusters(State& state, std::int64_t index, const Matrix& scores,
                           const Trajectories& data, const Options& options,
                           PolicyLearner& learner) {
  auto& restart = state.restarts[index];
  auto& clusters = state.clusters[static_cast<std::size_t>(index)];
  bool reseeded = false;
  const auto sizes = restart.sizes(options.k);
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    auto& empty_rounds = clusters.empty_rounds[c];
    empty_rounds = sizes[c] > 0 ? 0 : empty_rounds + 1;
    if (!clusters.alive[c] || empty_rounds < 2) continue;
    if (clusters.refills(c, options)) {
      const auto cluster = static_cast<std::int64_t>(c);
      reseed(restart, cluster, scores, data);
      learner.reinitialise(index * options.k + cluster, state.restarts.round());
      ++clusters.reseeds;
      empty_rounds = 0;
      reseeded = true;
    } else {
      clusters.alive[c] = 0;
    }
  }
  return reseeded;
}

/// Ends the fitting of a restart: empty clusters go, then clusters are merged down to k*.
/// Returns whether any were merged.
bool merge(Restart& restart, Clusters& clusters, const Matrix& scores, const Options& options) {
  const auto sizes = restart.sizes(options.k);
  for (std::size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] == 0) clusters.alive[c] = 0;
  restart.merges =
      merge_clusters(scores, options.merge_to, options.merge_rule, restart.labels, clusters.alive);
  if (restart.merges.empty()) return false;
  restart.objective_before_merge = restart.objective;
  restart.objective = restart.merges.back().objective;
  return true;
}

/// Moves a restart on once its labels have settled or its rounds are used up: from fitting over
/// merging to refining what was merged, and to its end.
void advance_phase(State& state, std::int64_t index, const Matrix& scores, const Options& options,
                   PolicyLearner& learner) {
  auto& restart = state.restarts[index];
  auto& clusters = state.clusters[static_cast<std::size_t>(index)];
  restart.converged = restart.settled(options.change_tolerance);
  if (!restart.converged && restart.phase_rounds < options.max_rounds) return;

  const bool merged = restart.phase == Phase::kFitting && merge(restart, clusters, scores, options);
  if (!merged || !options.refine) {
    restart.phase = Phase::kDone;
    return;
  }
  // Policies that went through all rounds remember single trajectories they were once given; new
  // ones know only what their cluster has in common.
  restart.phase = Phase::kRefining;
  restart.phase_rounds = 0;
  for (std::size_t c = 0; c < clusters.alive.size(); ++c)
    if (clusters.alive[c])
      learner.reinitialise(index * options.k + static_cast<std::int64_t>(c),
                           state.restarts.round());
}

/// Whether a restart that has its labels reads more than these from the scores of a round: it does
/// where it merges clusters or ends, and where it refills a cluster.
bool reads_scores(const Restart& restart, const Clusters& clusters, const Options& options) {
  if (restart.settled(options.change_tolerance) || restart.phase_rounds + 1 >= options.max_rounds)
    return true;
  const auto sizes = restart.sizes(options.k);
  for (std::size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] == 0 && clusters.empty_rounds[c] > 0 && clusters.refills(c, options)) return true;
  return false;
}

/// E-step: scores every trajectory under every living policy, then lets each restart move on.
void assign_all(State& state, const Trajectories& data, const Options& options,
                PolicyLearner& learner) {
  const auto slots = living_slots(state, options.k, false);
  const auto rough_scores = learner.score_roughly(slots);
  const Matrix all_scores = rough_scores ? *rough_scores : learner.score(slots);
  for (const auto index : state.restarts.running()) {
    auto& restart = state.restarts[index];
    Matrix scores = scores_of(all_scores, slots, index, options.k);
    const auto labels = restart.labels;
    assign_trajectories(restart, scores);
    if (rough_scores &&
        reads_scores(restart, state.clusters[static_cast<std::size_t>(index)], options)) {
      const auto own = slots_of(slots, index, options.k);
      scores = scores_of(learner.score(own), own, index, options.k);
      restart.labels = labels;
      assign_trajectories(restart, scores);
    }
    state.restarts.note_round(index);
    if (!handle_empty_clusters(state, index, scores, data, options, learner))
      advance_phase(state, index, scores, options, learner);
  }
}

/// The restarts of a fit before their first round; they can take twice as many rounds where merged
/// clusters are refined.
State new_state(const Trajectories& data, const Options& options, const RunContext& run) {
  const bool refines = options.refine && options.merge_to < options.k;
  const Clusters clusters{std::vector<std::uint8_t>(static_cast<std::size_t>(options.k), 1),
                          std::vector<std::int64_t>(static_cast<std::size_t>(options.k), 0)};
  return {Restarts({.method = "pg-kmeans",
                    .options = to_json(Options(options).describe()),
                    .k = options.k,
                    .restarts = options.restarts,
                    .most_rounds = refines ? 2 * options.max_rounds : options.max_rounds},
                   data, run),
          std::vector(static_cast<std::size_t>(options.restarts), clusters)};
}

/// What PG-Kmeans did before policy search had a name of its own: command lines of then go on.
Clustering search(const Trajectories& data, const Options& options, const RunContext& run) {
  using policy_search::PolicyClass;
  const auto policies = options.policy == PolicyKind::kFeatures  ? PolicyClass::kFeatures
                        : options.policy == PolicyKind::kTabular ? PolicyClass::kTables
                                                                 : PolicyClass::kPlanes;
  auto result = policy_search::fit_with(policies, data,
                                        {.k = options.merge_to > 0 ? options.merge_to : options.k,
                                         .k_max = options.k_max,
                                         .restarts = options.restarts,
                                         .seed = options.seed,
                                         .random_features = options.cosines,
                                         .l2 = options.ridge,
                                         .constraints = options.seeds},
                                        run);
  result.method = "pg-kmeans";
  result.options = to_json(Options(options).describe());
  return result;
}

}  // namespace

Clustering fit(const Trajectories& data, const Options& requested, const RunContext& run) {
  const Options options = resolve_for(run, requested, data);
  if (options.searches()) return search(data, options, run);
  return stoppable([&](std::int64_t& rounds) {
    State state = new_state(data, options, run);
    auto& restarts = state.restarts;
    const auto learner = make_learner(data, options, run);
    const bool resumed = restarts.resume([&](const json& saved, const ArrayFileReader& file) {
      restore(saved, file, state, *learner);
    });
    if (!resumed) start(state, data, options, run);

    for (rounds = restarts.round(); restarts.next_round(); rounds = restarts.round()) {
      restarts.timed("m_step", [&] { fit_policies(state, options, *learner); });
      restarts.timed("e_step", [&] { assign_all(state, data, options, *learner); });
      restarts.end_round([&](ArrayFileWriter& file) { return save(state, *learner, file); });
    }
    return restarts.conclude(
        "log-likelihood", [&](Restarts::Slots slots) { return learner->score(slots); },
        [&](Restarts::Slots slots) { return learner->centres(slots); });
  });
}

Sharing sharing_of(const Options& requested, const Trajectories& data, const RunContext& run) {
  const auto options = resolve_for(run, requested, data);
  return options.searches() && options.policy != PolicyKind::kMlp ? Sharing::kEpisodes
                                                                  : Sharing::kPolicies;
}

}  // namespace kindred::pg_kmeans
