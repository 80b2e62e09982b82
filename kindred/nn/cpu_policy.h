// One policy of a stack on one CPU core: forward, backward and Adam over buffers that are reused,
// so that a whole round of training stays in cache. Several cores train several policies; nothing
// is shared, so the result does not depend on how many there are. LibTorch's own path (TensorStack
// with TensorAdam) computes the same and serves GPUs; a parity test holds the two together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/nn/adam.h"
#include "kindred/nn/mlp.h"
#include "kindred/nn/policy_stack.h"

namespace kindred {

class CpuPolicy {
 public:
  explicit CpuPolicy(const PolicyArchitecture& architecture);
  CpuPolicy(const CpuPolicy&) = delete;
  CpuPolicy& operator=(const CpuPolicy&) = delete;

  /// Takes over policy `index` of a stack, and forgets Adam's averages.
  void load(const PolicyStack& stack, std::int64_t index);
  /// Writes the parameters back.
  void store(PolicyStack& stack, std::int64_t index) const;

  /// Everything the next training step depends on.
  struct Training {
    std::vector<float> parameters;  ///< One after the other, as in a stack; so are the averages.
    AdamState adam;
  };
  Training training() const;
  /// Continues where `training` was taken. Throws InvalidArgument for another architecture's.
  void resume(Training training);

  /// Log-probabilities of all actions: inputs [batch, inputs] → out [batch, actions]. Discrete
  /// only.
  void all_log_probs(std::span<const float> inputs, std::span<float> out) {
    all_log_probs(inputs, out, buffers_.pass);
  }
  /// Log-density of continuous actions [batch, actions] → out [batch]. Continuous only.
  void log_densities(std::span<const float> inputs, std::span<const float> actions,
                     std::span<float> out) {
    log_densities(inputs, actions, out, buffers_.pass);
  }
  /// The same over buffers that several policies take turns with: they stay in cache, and each
  /// thread has its own.
  void all_log_probs(std::span<const float> inputs, std::span<float> out, Mlp::Pass& pass) const;
  void log_densities(std::span<const float> inputs, std::span<const float> actions,
                     std::span<float> out, Mlp::Pass& pass) const;

  /// What the policy would do: inputs [batch, inputs] → probabilities [batch, actions]; continuous:
  /// means and standard deviations [batch, 2, actions]. Safe to call from several threads.
  void distribution(std::span<const float> inputs, std::span<float> out) const;

  /// What taking a gradient leaves behind, of no further use: policies can take turns with it.
  struct Buffers {
    Mlp::Pass pass;
    std::vector<float> deltas;   // the loss's gradient at the outputs, [batch, output_stride]
    std::vector<float> factors;  // of the actions' log-densities in the loss, [batch]
  };
  /// Takes the gradient of -Σ weights · log π over all actions, weights [batch, actions]; discrete
  /// only. Returns that loss.
  double gradient_on_weights(std::span<const float> inputs, std::span<const float> weights,
                             Buffers& buffers);
  double gradient_on_weights(std::span<const float> inputs, std::span<const float> weights) {
    return gradient_on_weights(inputs, weights, buffers_);
  }
  /// Takes the gradient of -Σ weights · log π(actions), weights [batch]; continuous only.
  double gradient_on_actions(std::span<const float> inputs, std::span<const float> actions,
                             std::span<const float> weights, Buffers& buffers);
  double gradient_on_actions(std::span<const float> inputs, std::span<const float> actions,
                             std::span<const float> weights) {
    return gradient_on_actions(inputs, actions, weights, buffers_);
  }
  /// The gradient that was taken last, in the kernels' own padded layout. It may be changed
  /// until update(), as by adding what other processes found.
  std::span<float> gradient() { return gradient_; }
  /// One step of Adam against gradient().
  void update(const AdamOptions& options);

 private:
  std::int64_t rows_of(std::span<const float> inputs) const;
  /// From the deltas to gradient_.
  void backward(std::span<const float> inputs, Buffers& buffers);

  PolicyArchitecture architecture_;
  Mlp network_;  // one head, logits; or two, means and raw deviations
  Adam adam_;
  std::vector<float> gradient_;
  Buffers buffers_;  // of whoever brings none; distribution() has its own
};

}  // namespace kindred
