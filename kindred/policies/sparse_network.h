// A small network on rows of zeros and ones, with discrete actions: what an observation costs is
// its ones, not its width.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/nn/adam.h"
#include "kindred/policies/plane_view.h"

namespace kindred {

/// One hidden layer of rectified units, then a softmax over actions.
class SparseNetwork {
 public:
  static constexpr std::int64_t kHidden = 64;

  /// With random weights.
  SparseNetwork(std::int64_t columns, std::int64_t actions, Random random);
  /// parameters: as parameters() gave them.
  SparseNetwork(std::int64_t columns, std::int64_t actions, std::vector<float> parameters);

  static std::int64_t parameters_of(std::int64_t columns, std::int64_t actions) {
    return (columns + 1) * kHidden + (kHidden + 1) * actions;
  }

  /// One step of AdamW against the cross-entropy of the actions taken in `steps`.
  void train(const SparseRows& rows, std::span<const std::int32_t> actions,
             std::span<const std::int64_t> steps);

  /// Log-probabilities of all actions: out [actions]. A hundredth of every policy is a random
  /// choice, so that no single step decides about an episode.
  void log_probs(std::span<const std::int32_t> ones, std::span<double> out) const;

  const std::vector<float>& parameters() const { return parameters_; }
  /// What another process trained this network to; it is not trained on from there.
  void adopt(std::vector<float> parameters) { parameters_ = std::move(parameters); }

 private:
  void forward(std::span<const std::int32_t> ones, float* hidden, float* logits) const;

  std::int64_t columns_, actions_;
  std::vector<float> parameters_;  // W1 [columns, hidden], b1, W2 [actions, hidden], b2
  std::vector<float> gradient_;
  Adam adam_;
};

}  // namespace kindred
