// The policies of all restarts and clusters while they are being fitted, behind the two questions
// PG-Kmeans asks of them: fit yourselves to these labels (M-step), and how likely is each
// trajectory under each of you (E-step). A policy is addressed by its slot, restart * k + cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kindred/clustering/clustering.h"
#include "kindred/methods/pg_kmeans/options.h"
#include "kindred/policies/step_counts.h"

namespace kindred::pg_kmeans {

/// Asked to stop, fit() and score() throw Interrupted; the policies are then of no use.
class PolicyLearner {
 public:
  virtual ~PolicyLearner() = default;

  /// Fits each policy in `slots` to the trajectories carrying its cluster's label in its restart.
  /// Starts from what the policies are now. `round` names the random streams.
  virtual void fit(std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
                   std::int64_t round) = 0;

  /// Log-likelihood of every trajectory under each policy in `slots`: [episodes, slots].
  virtual Matrix score(std::span<const std::int64_t> slots) const = 0;

  /// The same where only labels are asked for, if that is quicker: in each restart the highest
  /// score of a trajectory is that of the same policy, but how high it is may be a little off.
  virtual std::optional<Matrix> score_roughly(std::span<const std::int64_t>) const { return {}; }

  /// Makes the policy forget what it learned.
  virtual void reinitialise(std::int64_t slot, std::int64_t round) = 0;

  /// The policies of `slots` as finished centres.
  virtual std::shared_ptr<const Centres> centres(std::span<const std::int64_t> slots) const = 0;

  virtual void save(ArrayFileWriter& file) const = 0;
  virtual void load(const ArrayFileReader& file) = 0;
};

/// The learner for the data's kind: exact counts where observations repeat and actions are
/// discrete (networks or tables), minibatches otherwise.
std::unique_ptr<PolicyLearner> make_learner(const Trajectories& data, const Options& options,
                                            const RunContext& run);

}  // namespace kindred::pg_kmeans
