// Whole trajectories in random order, cut into minibatches, and a minibatch's steps into the slices
// that make one gradient step each.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/clustering/network_inputs.h"
#include "kindred/data/draw_order.h"
#include "kindred/methods/sorl/options.h"

namespace kindred::sorl {

/// Steps as a network reads them. Where observations repeat and actions are discrete every distinct
/// observation is one row, otherwise every step is.
struct Slice {
  std::vector<std::int64_t> owners;  ///< [steps]: the trajectory's place in the minibatch.
  std::vector<float> inputs;         ///< [rows, inputs]
  std::vector<std::int64_t> codes;   ///< Discrete: [steps], row * actions + action.
  std::vector<float> actions;        ///< Continuous: [steps, act_dim].
};

struct Minibatch {
  std::int64_t trajectories = 0;
  std::vector<Slice> slices;
};

class Minibatches {
 public:
  /// All must outlive this.
  Minibatches(const Trajectories& data, const NetworkInputs& inputs, const Options& options);

  /// Every trajectory is in one minibatch, in an order drawn from the seed and the round.
  std::int64_t count() const;
  void shuffle(std::int64_t round);
  Minibatch make(std::int64_t index);

 private:
  struct Step {
    std::int64_t at;
    std::int64_t owner;
  };
  Slice slice(std::span<const Step> steps);
  void fill_rows(std::span<const Step> steps, Slice& slice);
  void fill_distinct_rows(std::span<const Step> steps, Slice& slice);

  const Trajectories& data_;
  const NetworkInputs& inputs_;
  const Options& options_;
  DrawOrder draws_;
  std::int64_t round_ = 0;
  std::vector<std::int64_t> order_;   // of the episodes
  std::vector<float> table_;          // [distinct, inputs]; empty unless rows are shared
  std::vector<std::int64_t> row_of_;  // [distinct]: the row in the slice being made, or -1
};

}  // namespace kindred::sorl
