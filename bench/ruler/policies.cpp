#include "policies.h"

#include <functional>
#include <numeric>

#include "kindred/methods/policy_search/search.h"
#include "kindred/policies/episode_statistics.h"
#include "kindred/policies/rough_scoring.h"
#include "kindred/policies/training_turns.h"
#include "rows.h"

namespace bench {
namespace {

using namespace kindred;

/// What the sums of a step cost: the lower triangle of the features, features by targets, the
/// targets' squares.
double flop_of(const StatisticsLayout& layout) {
  const auto f = static_cast<double>(layout.features), t = static_cast<double>(layout.targets);
  return f * (f + 1.0) + 2.0 * f * t + 2.0 * t;
}

/// The same by a product that does not know of the symmetry: the whole square of the features.
double plain_flop_of(const StatisticsLayout& layout) {
  const auto f = static_cast<double>(layout.features);
  return flop_of(layout) + f * (f - 1.0);
}

std::string shape_of(const Settings& settings, const StatisticsLayout& layout) {
  return std::to_string(settings.problem.steps) + " x " + std::to_string(layout.features) + "+" +
         std::to_string(layout.targets);
}

}  // namespace

/// The products alone, of features that lie in the cache, on every core.
void time_products(const Settings& settings) {
  const Workers workers(settings.threads);
  const StatisticsLayout layout{.features = 1 + kInputs + settings.cosines, .targets = kActions};
  constexpr auto kRows = StepProducts::kMostRows;
  constexpr std::int64_t kBlocksOfAPiece = 2;  // about, in episodes that are long enough
  const auto blocks = settings.problem.steps / kRows;
  const auto steps = static_cast<double>(blocks * kRows);
  settings.turns.take({{"row", "products"},
                       {"shape", shape_of(settings, layout)},
                       {"who", "Kindred"},
                       {"work", blocks * kRows},
                       {"unit", "steps"},
                       {"flop", steps * flop_of(layout)},
                       {"plain_flop", steps * plain_flop_of(layout)}},
                      [&] {
                        return timed([&] {
                          workers.chunks(blocks, 64, [&](std::int64_t begin, std::int64_t end) {
                            StepProducts products(layout);
                            for (std::int64_t i = 0; i < kRows * products.stride(); ++i)
                              products.rows()[i] = small_number(kNoise, i);
                            std::vector<double> sums(static_cast<std::size_t>(layout.size()));
                            for (auto i = begin; i < end; ++i) {
                              products.add_rows(kRows);
                              if (i % kBlocksOfAPiece == 1) products.finish(sums.data());
                            }
                          });
                        });
                      });
}

/// Everything between observations and the sums of clusters: scaling, cosines, products.
void time_statistics(const Settings& settings) {
  const Workers workers(settings.threads);
  const Task task(settings.problem);
  const FeatureMap map(task.data.observations, settings.cosines);
  const ActionTargets targets(task.data.actions);
  const StatisticsLayout layout{.features = map.count(), .targets = targets.count()};
  std::vector<std::int32_t> labels(static_cast<std::size_t>(task.data.episodes()));
  for (std::size_t e = 0; e < labels.size(); ++e)
    labels[e] = static_cast<std::int32_t>(static_cast<std::int64_t>(e) % task.problem.policies);
  const auto steps = static_cast<double>(task.problem.steps);
  const auto projection = 2.0 * static_cast<double>(map.inputs().count() * map.cosines());
  settings.turns.take({{"row", "statistics"},
                       {"shape", shape_of(settings, layout)},
                       {"who", "Kindred"},
                       {"work", task.problem.steps},
                       {"unit", "steps"},
                       {"flop", steps * (flop_of(layout) + projection)},
                       {"plain_flop", steps * plain_flop_of(layout)},
                       {"bytes", steps * (kInputs + kActions) * sizeof(float)},
                       {"data", task.checksum.text()}},
                      [&] {
                        std::vector<double> sums;
                        auto line = timed([&] {
                          sums = cluster_sums(task.data, map, targets, labels,
                                              task.problem.policies, workers);
                        });
                        line["after"] = std::accumulate(sums.begin(), sums.end(), 0.0) / steps;
                        return line;
                      });
}

void time_m_step(const Settings& settings) {
  if (settings.device == "cuda") return time_gpu_m_step(settings);
  const Workers workers(settings.threads);
  const Policies task(settings.problem);
  const auto& p = task.problem;
  const double before = task.likelihood(task.start, workers);
  // Batches are drawn before the clock starts, as the peers' are.
  std::vector<std::int64_t> batches;
  for (std::int64_t s = 0; s < p.policies; ++s)
    for (std::int64_t i = 0; i < p.updates; ++i)
      for (std::int64_t b = 0; b < p.batch; ++b) batches.push_back(p.drawn(i, s, b));
  std::vector<std::int64_t> policies(static_cast<std::size_t>(p.policies));
  std::iota(policies.begin(), policies.end(), 0);
  const auto begin = [&](std::int64_t policy_index) -> PolicyUpdate {
    return [&, left = std::span(batches).subspan(
                   static_cast<std::size_t>(policy_index * p.updates * p.batch),
                   static_cast<std::size_t>(p.updates * p.batch))](CpuPolicy& policy,
                                                                   StepTrainer& trainer) mutable {
      const auto batch = static_cast<std::size_t>(p.batch);
      trainer.gradient(policy, left.first(batch));
      policy.update({});
      left = left.subspan(batch);
      return left.empty();
    };
  };
  settings.turns.take(task.about_training(), [&] {
    auto stack = task.start;
    auto line = timed([&] {
      train_in_turns(stack, {.policies = policies, .begin = begin}, task.data, task.view, workers);
    });
    line["before"] = before;
    line["after"] = task.likelihood(stack, workers);
    return line;
  });
}

namespace {

/// `score` as a turn: the mean of all scores a step is what others must come to.
void time_scores(const Settings& settings, const Policies& task, const Line& about,
                 const std::function<Matrix()>& score) {
  settings.turns.take(about, [&] {
    Matrix scores;
    auto line = timed([&] { scores = score(); });
    line["after"] = std::accumulate(scores.values.begin(), scores.values.end(), 0.0) /
                    static_cast<double>(task.problem.steps * task.problem.policies);
    return line;
  });
}

}  // namespace

void time_e_step(const Settings& settings) {
  if (settings.device == "cuda") return time_gpu_e_step(settings);
  const Workers workers(settings.threads);
  const Policies task(settings.problem);
  time_scores(settings, task, task.about_scoring(), [&] {
    return score_trajectories(task.data, task.view, task.start, {}, {}, workers);
  });
}

/// As rounds of PG-Kmeans score: so that labels are right.
void time_labels(const Settings& settings) {
  const Workers workers(settings.threads);
  const Policies task(settings.problem);
  auto about = task.about_scoring();
  about["row"] = "labels";
  about.erase("flop");  // they are none
  time_scores(settings, task, about, [&] {
    if (RoughScoring::pays(task.data, task.start)) {
      const std::vector<std::int64_t> all_compete(static_cast<std::size_t>(task.start.size()), 0);
      const RoughScoring rough(task.view, task.start, all_compete, {}, workers);
      const auto margins = rough.margins(task.data, {}, workers);
      if (margins.are_small()) return rough.score(task.data, {}, margins, workers);
    }
    return score_trajectories(task.data, task.view, task.start, {}, {}, workers);
  });
}

void time_search(const Settings& settings) {
  RunContext run;
  static_cast<Workers&>(run) = Workers(settings.threads);
  const Task task(settings.problem);
  policy_search::SearchOptions options;
  options.starts = settings.starts;
  options.cosines = settings.cosines;
  settings.turns.take(
      {{"row", "search"},
       {"shape", std::to_string(task.problem.steps)},
       {"who", "Kindred"},
       {"data", task.checksum.text()},
       {"work", task.problem.steps},
       {"unit", "steps"}},
      [&] {
        policy_search::SearchResult result;
        auto line =
            timed([&] { result = policy_search::search_by_conflicts(task.data, options, run); });
        line["after"] = result.answer().fit.k;
        return line;
      },
      /*warm_up=*/false);
}

}  // namespace bench
