// What every method returns: a label per trajectory, how well each centre explains each trajectory,
// how the objective got there, the fitted centres, and the complete options that made it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/progress.h"
#include "kindred/data/array_file.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Row-major [rows, columns].
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;

  Matrix() = default;
  Matrix(std::int64_t r, std::int64_t c, double fill = 0.0)
      : rows(r), columns(c), values(static_cast<std::size_t>(r * c), fill) {}

  double& operator()(std::int64_t r, std::int64_t c) {
    return values[static_cast<std::size_t>(r * columns + c)];
  }
  double operator()(std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>(r * columns + c)];
  }
  std::span<const double> row(std::int64_t r) const {
    return {values.data() + r * columns, static_cast<std::size_t>(columns)};
  }
};

/// The fitted centres: enough to label trajectories that were not in the data.
class Centres {
 public:
  virtual ~Centres() = default;

  virtual std::int64_t count() const = 0;
  /// [episodes, count]: higher means the centre explains the episode better. Throws DataFormatError
  /// when the data has other dimensions than the centres were fitted on.
  virtual Matrix score(const Trajectories& data, const RunContext& run) const = 0;
  /// Whether a score is a sum over steps (a log-likelihood), so that long episodes weigh more.
  virtual bool sums_over_steps() const = 0;
  /// How much worse each episode fits the centre its label names than that centre's own would, in
  /// deviations of what chance would do if the centre were exactly right: [episodes]. Empty where
  /// centres cannot say.
  virtual std::vector<double> surprises(const Trajectories& /*data*/,
                                        std::span<const std::int32_t> /*labels*/,
                                        const RunContext& /*run*/) const {
    return {};
  }
  virtual void save(ArrayFileWriter& file) const = 0;
};

/// Throws DataFormatError unless `data` has the dimensions centres were fitted on; `actions`: how
/// many there are, or numbers per action.
void require_same_dimensions(const Trajectories& data, std::int64_t obs_dim, bool discrete,
                             std::int64_t actions);

/// Throws InvalidArgument when the run asks for a GPU, which `what` cannot use.
void require_cpu(const RunContext& run, const std::string& what);

/// One outer iteration of one restart.
struct TraceEntry {
  std::int64_t restart = 0;
  std::int64_t iteration = 0;
  double objective = 0.0;
  std::int64_t changed = 0;
  std::vector<std::int64_t> sizes;
  double seconds = 0.0;  ///< Since the method started.
};

/// Two clusters joined on the way from k to k*.
struct MergeStep {
  std::int64_t from = 0;
  std::int64_t into = 0;
  double objective = 0.0;  ///< After joining, with the kept centre as it was.
};

/// How one restart ended.
struct RestartSummary {
  std::int64_t restart = 0;
  std::int64_t iterations = 0;
  bool converged = false;
  double objective = 0.0;               ///< Final; the best restart has the highest.
  double objective_before_merge = 0.0;  ///< Equal to `objective` when nothing was merged.
  std::vector<MergeStep> merges;
  std::vector<std::int32_t> labels;  ///< [episodes]
  /// The first round of the trace that measures this objective; later than 1 where a method changes
  /// its loss on the way (DEC).
  std::int64_t objective_since = 1;
};

/// What is known of two clusters: they act differently in like states, or alike, or have not been
/// in like states, so that one policy may have made both, or have, but too little to tell.
enum class Relation { kDifferent, kSame, kNeverMet, kUndecided };

/// The word for it in records.
const char* name_of(Relation relation);

struct PairVerdict {
  std::int32_t first = 0, second = 0;
  Relation relation = Relation::kNeverMet;
  double z = 0.0;         ///< Standard errors over episodes; 0 where they never met.
  double foretold = 0.0;  ///< The same along the difference that the other half of steps foretells.
  double met = 0.0;       ///< Share of the steps looked at that are in states both have been in.
  bool alike_later = false;  ///< They differ, but act alike in the second half of their episodes.
  /// Two steps in like states at which they differ most, one of each; -1 where they never met.
  std::array<std::int64_t, 2> example{-1, -1};
};

/// Pairs by what conflicts say of them; none where they were not looked for.
struct RelationCounts {
  std::int64_t different = 0, same = 0, never_met = 0, undecided = 0;
  double least_z = 0.0;  ///< Of those that met.

  static RelationCounts of(std::span<const PairVerdict> pairs);
};

/// How much episodes, whatever their clusters, act differently from one another in like states.
struct EpisodeEffect {
  bool known = false;  ///< Whether it was looked for, and enough episodes met.
  double z = 0.0;      ///< Standard errors over episodes.
  double share = 0.0;  ///< Of the squared difference of actions, what goes with the episode.
  double error = 0.0;  ///< Standard error of the share.
  double noise = 0.0;  ///< Of what one policy leaves unexplained, what like states do too.
  double met = 0.0;    ///< Share of the steps that are in states another episode has been in.
};

/// The best division into two clusters, where the answer is one.
struct BestTwo {
  std::array<std::int64_t, 2> sizes{};
  double v = 0.0;
  PairVerdict pair;
};

/// How many policies there are, as far as conflicts tell.
struct PolicyCount {
  std::int64_t least = 1;    ///< Fewer cannot explain the data.
  std::int64_t most = 1;     ///< If clusters that never met are of different policies.
  bool sure = false;         ///< Nothing is undecided.
  std::string doubt;         ///< Why it is not sure, in words.
  std::string view;          ///< What policies were taken to see.
  double persistence = 1.0;  ///< NMI of the labels that each half of the steps leads to.
  std::vector<PairVerdict> pairs;
  EpisodeEffect episodes;  ///< Where no clusters that conflict were found.
  std::optional<BestTwo> best_two{};
};

/// The best answer with one number of clusters, where several were looked at.
struct Considered {
  std::int64_t k = 0;
  double v = 0.0;           ///< The held-out score.
  double gain = 0.0;        ///< Per step, over the answer before it.
  double gain_error = 0.0;  ///< Standard error of the gain over episodes.
  double agreement = 1.0;   ///< Mean NMI of the other restarts with it.
  RelationCounts relations{};
  double conflict = 0.0;  ///< Standard errors by which all its clusters together conflict.
};

/// How well policies of the clusters predict trajectories they have not seen, in nats per step.
struct HeldOutJudgement {
  double v = 0.0;
  double v_of_one = 0.0;  ///< Of one policy for everything.
  double gain = 0.0;      ///< Over it, trajectory by trajectory.
  double gain_error = 0.0;
  std::int64_t judged = 0;  ///< Trajectories: all, or a sample.
};

/// How episodes fit the policies of their own clusters, fitted without them: what new ones can be
/// compared with.
struct HeldOutFit {
  std::vector<double> surprises;  ///< As Centres::surprises, of the episodes that were judged.
  /// How many times as far as chance alone would take them actions usually stray from their
  /// policies, as scores see it, squared: 1 where the policies are exactly right.
  double dispersion = 1.0;
};

/// Another partition that explains the data as well.
struct Alternative {
  std::vector<std::int32_t> labels;  ///< [episodes]
  double v = 0.0;                    ///< The held-out score.
  double nmi = 0.0;                  ///< With the answer.
};

/// NMI from which two restarts give the same labels.
inline constexpr double kSameLabels = 0.9;

/// How far several restarts agree on the answer.
struct Agreement {
  std::string verdict;     ///< "unique", "several" or "unstable"; "single" with one restart.
  std::int64_t good = 0;   ///< Restarts whose objective is near the best.
  std::int64_t same = 0;   ///< Restarts with the labels of the best (NMI at least 0.9).
  double mean_nmi = 1.0;   ///< Over pairs of good restarts; with one, of pairs of the same.
  double least_nmi = 1.0;  ///< Of any such pair.
};

struct Clustering {
  std::string method;
  std::vector<std::int32_t> labels;  ///< [episodes], consecutive from 0.
  Matrix scores;                     ///< [episodes, k]
  Matrix latents;                    ///< [episodes, features] where the method has them.
  std::string score_meaning;         ///< "log-likelihood" or "negative squared distance".
  double objective = 0.0;            ///< Higher is better.
  std::int64_t iterations = 0;
  bool converged = false;
  /// Asked to stop, the method gave up: nothing but `seconds` and timings["rounds"], the rounds
  /// that the checkpoint holds, is set.
  bool stopped = false;
  double seconds = 0.0;
  nlohmann::ordered_json options;  ///< Complete and resolved.
  nlohmann::ordered_json timings = nlohmann::ordered_json::object();
  std::vector<TraceEntry> trace;
  std::vector<RestartSummary> restarts;
  std::int64_t best_restart = 0;
  std::shared_ptr<const Centres> centres;
  std::vector<Considered> considered;  ///< By k; empty where the method cannot say.
  bool k_found = false;                ///< It was not asked for.
  std::optional<HeldOutJudgement> judgement;
  std::optional<HeldOutFit> held_out_fit;  ///< Where centres have surprises.
  /// [episodes]: nats by which the policy of an episode's label predicts it better than the best of
  /// the others, all fitted without it. Not a number where it is not known; empty where no method
  /// can say.
  std::vector<double> held_out_margins;
  std::int64_t mixed_episodes = 0;   ///< Whose parts clearly are of different policies, if many.
  std::optional<PolicyCount> count;  ///< Where conflicts were looked for.
  std::int64_t searched = 0;  ///< Episodes the answer was found on; 0: all, as most methods do.
  std::vector<Alternative> alternatives;
  std::optional<Agreement> agreement;  ///< Where the method judges by more than its objective.

  std::int64_t k() const { return scores.columns; }
};

/// What `merge_to` means on `data`: 0 keeps all k clusters. Throws InvalidArgument when the numbers
/// do not fit each other or the data.
std::int64_t resolve_merge_to(std::int64_t k, std::int64_t merge_to, const Trajectories& data);

/// Sets the restarts and what follows from the best of them: labels, objective, iterations.
void adopt_best(std::vector<RestartSummary> restarts, Clustering& result);

/// Label of each row: its highest score, the lowest index on ties.
std::vector<std::int32_t> best_columns(const Matrix& scores);

/// The labels renumbered 0, 1, 2, … without gaps, in the same order.
std::vector<std::int32_t> consecutive_labels(std::vector<std::int32_t> labels);

/// The score of each row's label less the best of the others: negative where another centre
/// explains the row better, as it can after merging; infinite with a single column.
std::vector<double> margins(const Matrix& scores, std::span<const std::int32_t> labels);

/// A restart is good when its objective misses the best by at most `tolerance` of the way from
/// where restarts begin to the best. They begin at the median of their first rounds: the lowest
/// objective of all would let one spike of one trace make everything near. The answer is unique
/// when good restarts give the same labels, or, where only the best is good, when most restarts
/// give the labels of the best. A method's own judgement goes before all that.
Agreement restart_agreement(const Clustering& clustering, double tolerance = 0.01);

}  // namespace kindred
