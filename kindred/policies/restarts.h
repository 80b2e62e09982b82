// What policy methods that fit several restarts round by round have in common: where each restart
// stands, the trace, checkpoints, progress, and the clustering in the end. A policy is addressed by
// its slot, restart * k + cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "kindred/clustering/checkpoint.h"
#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/core/stopwatch.h"

namespace kindred {

enum class Phase { kFitting, kRefining, kDone };

/// One random start on its way.
struct Restart {
  Phase phase = Phase::kFitting;
  std::int64_t phase_rounds = 0;  ///< Rounds since the phase began.
  std::int64_t rounds = 0;
  bool converged = false;
  double objective = -std::numeric_limits<double>::infinity();
  double objective_before_merge = -std::numeric_limits<double>::infinity();  ///< With merges only.
  std::int64_t changed = 0;
  std::vector<MergeStep> merges;
  std::vector<std::int32_t> labels;  ///< [episodes], cluster 0..k-1.

  std::vector<std::int64_t> sizes(std::int64_t k) const;  ///< [k]
  /// Whether at most this share of the labels changed in the last round.
  bool settled(double tolerance) const;
};

/// A method, as far as its restarts need to know it.
struct RestartPlan {
  std::string method;
  nlohmann::ordered_json options;  ///< Complete and resolved.
  std::int64_t k = 0;
  std::int64_t restarts = 0;
  std::int64_t most_rounds = 0;  ///< A restart can take.
};

/// All restarts of a fit, as a value that can be saved between two rounds: a run killed at any
/// moment continues from its last checkpoint to the same result.
class Restarts {
 public:
  using Slots = std::span<const std::int64_t>;
  /// What the method adds to a checkpoint: it returns JSON and writes arrays, and gets both back.
  using Save = std::function<nlohmann::json(ArrayFileWriter&)>;
  using Restore = std::function<void(const nlohmann::json&, const ArrayFileReader&)>;

  /// Labels are 0 until the method sets them. `data` must outlive this.
  Restarts(RestartPlan plan, const Trajectories& data, const RunContext& run);

  Restart& operator[](std::int64_t restart) { return all_[static_cast<std::size_t>(restart)]; }
  const Restart& operator[](std::int64_t restart) const {
    return all_[static_cast<std::size_t>(restart)];
  }
  std::int64_t count() const { return plan_.restarts; }
  std::int64_t round() const { return round_; }  ///< Of all restarts together, from 1.
  std::vector<std::int64_t> running() const;     ///< Those that are not done.

  /// Goes back to the last checkpoint if the run resumes one, and says whether it did.
  bool resume(const Restore& restore);

  /// Begins a round; false when every restart is done. Throws Interrupted when asked to stop.
  bool next_round();
  /// Does a part of a round and adds up its seconds under its name.
  template <class Work>
  void timed(const char* part, const Work& work) {
    const Stopwatch watch;
    work();
    seconds_[part] = seconds_.value(part, 0.0) + watch.seconds();
  }
  /// Counts a round of one restart, whose objective, labels and changes are known, in the trace.
  void note_round(std::int64_t restart);
  /// Saves and reports.
  void end_round(const Save& save);

  /// The best restart's clustering; `score` and `centres` take the slots of its clusters.
  Clustering conclude(std::string score_meaning, const std::function<Matrix(Slots)>& score,
                      const std::function<std::shared_ptr<const Centres>(Slots)>& centres) const;

 private:
  const Restart& best() const;
  void save(const Save& save) const;
  void report() const;

  RestartPlan plan_;
  const Trajectories& data_;
  RunContext run_;
  Stopwatch clock_;
  Checkpoint checkpoint_;
  std::int64_t round_ = 0;
  std::vector<Restart> all_;
  std::vector<TraceEntry> trace_;
  nlohmann::ordered_json seconds_ = nlohmann::ordered_json::object();
};

}  // namespace kindred
