// What the policies behind a run's clusters can do: each is rolled out in the environment, beside
// behaviour cloning on all episodes, on those of the highest return, and, where asked for, on all
// by how probable it is that they belong to the cluster that a few labelled returns pick.
//
// The policy of a cluster is the run's own centre, trained further on the cluster's episodes when
// asked; where centres are not policies, one is cloned from each cluster. All policies meet the
// same episodes: episode i has the same random stream for each.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/core/progress.h"
#include "kindred/data/trajectories.h"
#include "kindred/envs/environment.h"
#include "kindred/policies/centres.h"
#include "kindred/policies/cloning.h"
#include "kindred/runs/run.h"

namespace kindred {

/// Defaults are argued in docs/decisions/0011-evaluating-centres.md.
struct EvaluateOptions {
  std::int64_t episodes = 10;
  std::int64_t continue_rounds = 40;
  std::int64_t rounds = 40;
  double best = 0.1;
  std::int64_t labelled = 10;
  bool weighted = false;
  bool deterministic = true;
  std::int64_t buffer_steps = 0;
  std::int64_t seed = 0;

  OptionTable describe();
};

/// One policy: what it was made from and how it did.
struct PolicyResult {
  std::string name;
  std::int64_t source_episodes = 0;     ///< Episodes of the data it stands for.
  std::optional<double> source_return;  ///< Mean of their returns that are numbers.
  CloningSummary training;              ///< Of this evaluation, not of the run before it.
  std::vector<double> returns;          ///< [episodes] acted
  std::vector<std::int64_t> lengths;    ///< [episodes] acted
  double mean_return = 0.0;
  double deviation = 0.0;       ///< Of the returns; 0 with a single episode.
  std::optional<double> score;  ///< 0 to 100 between the environment's reference returns.
};

/// The cluster chosen by looking at the returns of a few episodes.
struct Pick {
  std::vector<std::int64_t> labelled;              ///< [k]: episodes looked at in each cluster.
  std::vector<std::optional<double>> mean_return;  ///< [k]: of those; none where none was seen.
  std::int64_t cluster = 0;
};

struct Evaluation {
  EvaluateOptions options;  ///< Complete: what was left to the data is decided.
  std::string environment;
  nlohmann::json environment_options;
  std::vector<PolicyResult> clusters;    ///< [k]
  std::vector<PolicyResult> references;  ///< Cloned from every episode, the best, as weighted.
  std::optional<Pick> pick;
  std::shared_ptr<const PolicyCentres> policies;  ///< [k]: as they were rolled out.
  std::string origin;  ///< Where the clusters' policies come from, as a sentence.
};

/// The given share of episodes, at least one, with the highest returns; of equal ones the first.
/// None whose return is not a number.
std::vector<std::int64_t> best_episodes(std::span<const double> returns, double share);

/// Picks the cluster with the highest mean return over the `seen` episodes; of equal ones that with
/// more of them, then the lower number. A cluster none of whose episodes was seen cannot be picked.
Pick pick_cluster(std::span<const std::int32_t> labels, std::int64_t k,
                  std::span<const double> returns, std::span<const std::int64_t> seen);

/// `data` is what the run clustered. Throws InvalidArgument when it is not, when environment and
/// data have different dimensions, or when returns are needed and do not differ; Interrupted when
/// asked to stop.
Evaluation evaluate(const LoadedRun& run, const Trajectories& data, const Environment& environment,
                    const EvaluateOptions& options, const RunContext& context);

nlohmann::ordered_json to_json(const Evaluation& evaluation);

/// Writes RUN/policies.h5 and then RUN/evaluation.json, each whole or not at all.
void save_evaluation(const RunFolder& folder, const Evaluation& evaluation,
                     const nlohmann::ordered_json& record);

}  // namespace kindred
