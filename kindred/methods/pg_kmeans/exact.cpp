#include "kindred/methods/pg_kmeans/exact.h"

#include "kindred/core/stopwatch.h"
#include "kindred/policies/exact_centres.h"
#include "kindred/policies/partition_search.h"

namespace kindred::pg_kmeans {

Clustering fit_exact_policies(const Trajectories& data, const Options& options,
                              const RunContext& run) {
  require_cpu(run, "policy 'features'");
  const Stopwatch clock;
  auto found = search_partitions(data,
                                 {.k = options.merge_to > 0 ? options.merge_to : options.k,
                                  .k_max = options.k_max,
                                  .starts = options.restarts,
                                  .seed = options.seed,
                                  .cosines = options.cosines,
                                  .ridge = options.ridge,
                                  .separation = options.separation},
                                 run);
  const auto& answer = found.answer();
  const auto centres =
      std::make_shared<ExactCentres>(*found.map, *found.targets, *found.statistics,
                                     answer.fit.labels, answer.fit.k, options.ridge);
  Clustering result;
  result.method = "pg-kmeans";
  result.labels = answer.fit.labels;
  result.scores = centres->score(*found.statistics);
  result.score_meaning = "log-likelihood";
  result.objective = answer.fit.objective();
  result.iterations = std::ssize(answer.fit.rounds);
  result.converged = answer.fit.converged;
  result.options = to_json(Options(options).describe());
  result.centres = centres;
  result.k_found = options.k == 0;
  for (const auto& one : found.answers)
    result.considered.push_back({.k = one.fit.k,
                                 .v = one.held_out.v,
                                 .gain = one.gain.mean,
                                 .gain_error = one.gain.error,
                                 .separation = one.separation,
                                 .needed = one.needed,
                                 .agreement = one.agreement});
  result.restarts = std::move(found.restarts);
  result.best_restart = found.best_restart;
  result.trace = std::move(found.trace);
  result.seconds = clock.seconds();
  return result;
}

}  // namespace kindred::pg_kmeans
