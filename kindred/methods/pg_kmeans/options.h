// The options of PG-Kmeans. Defaults that differ from the paper's text are argued in
// docs/decisions/0002-pg-kmeans-defaults.md.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kindred/clustering/network_inputs.h"
#include "kindred/core/options.h"
#include "kindred/core/progress.h"
#include "kindred/policies/merge.h"

namespace kindred::pg_kmeans {

enum class PolicyKind { kAuto, kFeatures, kMlp, kTabular };
enum class Choose { kAuto, kHeldOut, kObjective };
enum class Initialisation { kRandom, kEpisodeRegression };
enum class EmptyCluster { kDrop, kReseed };

struct Options {
  std::int64_t k = 0;
  std::int64_t merge_to = 0;
  std::int64_t k_max = 12;
  std::int64_t restarts = 0;
  std::int64_t seed = 0;
  PolicyKind policy = PolicyKind::kAuto;
  Choose choose = Choose::kAuto;
  Initialisation init = Initialisation::kRandom;
  std::int64_t max_rounds = 30;
  double change_tolerance = 0.001;
  double common_share = kAutoShare;
  double log_prob_floor = kAutoFloor;
  EmptyCluster empty_cluster = EmptyCluster::kDrop;
  MergeRule merge_rule = MergeRule::kLeastLoss;
  bool refine = true;
  Standardize standardize = Standardize::kAuto;
  bool standardize_actions = true;
  std::int64_t hidden = 128;
  std::int64_t hidden_layers = 2;
  double learning_rate = 1e-3;
  double max_gradient_norm = 0.5;
  std::int64_t max_steps = 1000;
  std::int64_t plateau_steps = 30;
  double plateau_tolerance = 1e-3;
  std::int64_t batch_steps = 512;
  std::int64_t batch_trajectories = 0;
  std::int64_t buffer_steps = 0;
  double smoothing = 0.0;
  std::int64_t cosines = 60;
  double ridge = 10.0;
  double separation = 0.0;
  std::string seeds;

  /// No floor under log-probabilities.
  static constexpr double kNoFloor = -std::numeric_limits<double>::infinity();

  /// Either bounds what one step can say; unless both are given, resolve() has one of them do so.
  static constexpr double kAutoShare = -1.0;
  static constexpr double kAutoFloor = std::numeric_limits<double>::infinity();

  OptionTable describe();
  /// PG-Kmeans as it is compared with the paper in docs/results.md; k, seed and the like stay.
  void use_paper_setting();
  /// Whether the partition is searched for by the held-out score instead of fitted round by round.
  bool searches() const { return choose == Choose::kHeldOut; }
};

/// The options as they will be used on `data`. Throws InvalidArgument when they cannot be.
Options resolve(Options options, const Trajectories& data);
/// The same on the device of the run: where k is known, networks on a GPU need no search.
Options resolve_for(const RunContext& run, const Options& requested, const Trajectories& data);
/// Throws as resolve does.
std::vector<UnusedOptions> unused_options(const Options& requested, const Trajectories& data,
                                          const RunContext& run);

}  // namespace kindred::pg_kmeans
