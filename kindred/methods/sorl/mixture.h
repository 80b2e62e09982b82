// The policies of all restarts and clusters while they are trained. A policy is addressed by its
// slot, restart * k + cluster; the k policies of a restart are one mixture.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/dist/packing.h"
#include "kindred/methods/sorl/minibatches.h"
#include "kindred/methods/sorl/options.h"
#include "kindred/nn/cpu_policy.h"

namespace kindred::sorl {

/// p(z|τ) from scores [trajectories, groups × k]: the softmax over each group of k columns. A share
/// too small to move any parameter is 0.
Matrix posteriors(const Matrix& scores, std::int64_t k);

/// Asked to stop, train() and score() throw Interrupted; the policies are then of no use.
class Mixture {
 public:
  /// New random policies. `data` must outlive this.
  Mixture(const Trajectories& data, const Options& options, const RunContext& run);

  /// One pass over the data for the mixtures of `restarts`: in each minibatch the posterior is
  /// computed with the policies as they are, then each takes gradient steps on
  /// -Σ_τ p(z|τ) Σ_t log π_z(a_t|s_t) per step. Several processes each train some of the restarts
  /// and tell the others. Throws NumericError when training diverges.
  void train(std::span<const std::int64_t> restarts, std::int64_t round);

  /// Remembers a restart's policies as they are, and goes back to them; their training ends there.
  void keep(std::int64_t restart);
  void restore(std::int64_t restart);

  /// Scores of every trajectory under the policies in `slots`: [episodes, slots].
  Matrix score(std::span<const std::int64_t> slots, OverSteps over) const;
  std::shared_ptr<const Centres> centres(std::span<const std::int64_t> slots) const;

  /// The policies with everything their training depends on.
  void save(ArrayFileWriter& file) const;
  void load(const ArrayFileReader& file);

 private:
  void train_here(std::span<const std::int64_t> slots, std::int64_t round);
  /// All of a policy that its training depends on.
  void pack(std::int64_t slot, Packer& to) const;
  void unpack(std::int64_t slot, Unpacker& from);
  PolicyStack stack(std::span<const std::int64_t> slots) const;
  void train_on(const Minibatch& batch, std::span<const std::int64_t> slots);
  void score_batch(const Minibatch& batch, std::int64_t slot, Matrix& scores, std::int64_t column);
  void train_slice(const Slice& slice, std::int64_t slot, const Matrix& shares,
                   std::int64_t column);

  const Trajectories& data_;
  Options options_;
  RunContext run_;
  NetworkInputs inputs_;
  PolicyArchitecture architecture_;
  Minibatches minibatches_;
  std::vector<std::unique_ptr<CpuPolicy>> policies_;  // [restarts × k]
  PolicyStack kept_;                                  // [restarts × k]
};

}  // namespace kindred::sorl
