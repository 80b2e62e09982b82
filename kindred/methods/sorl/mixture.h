// The policies of all restarts and clusters while they are trained, on the CPU or another device. A
// policy is addressed by its slot, restart * k + cluster; the k policies of a restart are one
// mixture.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/clustering/network_inputs.h"
#include "kindred/core/late_part.h"
#include "kindred/core/progress.h"
#include "kindred/dist/packing.h"
#include "kindred/methods/sorl/minibatches.h"
#include "kindred/methods/sorl/options.h"
#include "kindred/nn/cpu_policy.h"
#include "kindred/nn/policy_stack.h"

namespace kindred::sorl {

/// p(z|τ) from scores [trajectories, groups × k]: the softmax over each group of k columns. A share
/// too small to move any parameter is 0.
Matrix posteriors(const Matrix& scores, std::int64_t k);

/// Asked to stop, train() and score() throw Interrupted; the policies are then of no use.
class Mixture {
 public:
  virtual ~Mixture() = default;
  Mixture(const Mixture&) = delete;
  Mixture& operator=(const Mixture&) = delete;

  /// One pass over the data for the mixtures of `restarts`: in each minibatch the posterior is
  /// computed with the policies as they are, then each takes gradient steps on
  /// -Σ_τ p(z|τ) Σ_t log π_z(a_t|s_t) per step. Several processes each train some of the restarts
  /// and tell the others. Throws NumericError when training diverges.
  void train(std::span<const std::int64_t> restarts, std::int64_t round);

  /// Remembers a restart's policies as they are, and goes back to them; their training ends there.
  void keep(std::int64_t restart);
  void restore(std::int64_t restart);

  /// Scores of every trajectory under the policies in `slots`: [episodes, slots].
  virtual Matrix score(std::span<const std::int64_t> slots, OverSteps over) const = 0;
  std::shared_ptr<const Centres> centres(std::span<const std::int64_t> slots) const;

  /// The policies with everything their training depends on, whatever the device.
  void save(ArrayFileWriter& file) const;
  void load(const ArrayFileReader& file);

 protected:
  /// With new random policies in kept_. `data` must outlive this.
  Mixture(const Trajectories& data, const Options& options, const RunContext& run);

  /// Everything a policy's next gradient step depends on.
  using Training = CpuPolicy::Training;
  virtual Training training(std::int64_t slot) const = 0;
  /// Throws InvalidArgument for another architecture's.
  virtual void resume(std::int64_t slot, Training training) = 0;

  /// Takes over the policy at `slot` of `from`, and forgets Adam's averages; and the way back.
  virtual void adopt(const PolicyStack& from, std::int64_t slot) = 0;
  virtual void store(std::int64_t slot, PolicyStack& to, std::int64_t at) const = 0;

  virtual void train_on(const Minibatch& batch, std::span<const std::int64_t> slots) = 0;

  /// What a policy's gradient is multiplied by in each step of the minibatch: the share of the
  /// step's trajectory, over the steps of its slice.
  std::vector<float> weights(const Minibatch& batch, const Matrix& shares,
                             std::int64_t column) const;
  /// Throws NumericError.
  void require_finite(double loss) const;
  PolicyStack stack(std::span<const std::int64_t> slots) const;
  AdamOptions adam() const {
    return {.learning_rate = options_.learning_rate,
            .max_gradient_norm = options_.max_gradient_norm};
  }

  const Trajectories& data_;
  Options options_;
  RunContext run_;
  NetworkInputs inputs_;
  PolicyArchitecture architecture_;
  PolicyStack kept_;  // [restarts × k]

 private:
  void train_here(std::span<const std::int64_t> slots, std::int64_t round);

  Minibatches minibatches_;
};

/// On run.device. `data` must outlive it.
std::unique_ptr<Mixture> make_mixture(const Trajectories& data, const Options& options,
                                      const RunContext& run);

/// A policy at a time on each core.
std::unique_ptr<Mixture> make_cpu_mixture(const Trajectories& data, const Options& options,
                                          const RunContext& run);

/// Through LibTorch; for GPUs, works on any device.
extern TorchFunction<std::unique_ptr<Mixture>(const Trajectories& data, const Options& options,
                                              const RunContext& run)>
    make_tensor_mixture;

}  // namespace kindred::sorl
