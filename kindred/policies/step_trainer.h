// What training a policy takes from a dataset: gradients and losses on minibatches of its steps,
// one policy at a time, over buffers that are reused for the next, or for another policy.
// Asked to stop, both functions throw Interrupted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/network_view.h"
#include "kindred/core/workers.h"
#include "kindred/nn/cpu_policy.h"

namespace kindred {

class StepTrainer {
 public:
  /// All must outlive this.
  StepTrainer(const Trajectories& data, const NetworkView& view, const Workers& workers)
      : data_(data), view_(view), workers_(workers) {}

  /// Has the policy take the gradient of the mean of -log π(action) over `steps`; returns that
  /// mean.
  double gradient(CpuPolicy& policy, std::span<const std::int64_t> steps);
  static constexpr std::size_t kStepsAtOnce = 512;  ///< Activations of so many stay in cache.
  /// Adds -log π(action) of each of at most kStepsAtOnce steps to `sum`.
  void add_losses(CpuPolicy& policy, std::span<const std::int64_t> steps, double& sum);

  /// For gradients on other rows than steps.
  CpuPolicy::Buffers& buffers() { return buffers_; }

 private:
  /// What the policy sees in each step.
  void look(std::span<const std::int64_t> steps);
  /// Continuous actions as the policy predicts them, into actions_.
  void gather_actions(std::span<const std::int64_t> steps);

  const Trajectories& data_;
  const NetworkView& view_;
  const Workers& workers_;       // asked whether to stop, nothing else
  std::vector<float> seen_;      // [steps, inputs]
  std::vector<float> actions_;   // [steps, predicted]; or weights over all actions when discrete
  std::vector<float> unscaled_;  // actions as they are, where the policy sees them scaled
  std::vector<float> weights_;   // [steps]
  std::vector<float> log_probs_;
  CpuPolicy::Buffers buffers_;
};

}  // namespace kindred
