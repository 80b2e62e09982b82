// Whole trajectories in random order, cut into minibatches, and a minibatch's steps into the slices
// that make one gradient step each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/data/draw_order.h"
#include "kindred/methods/sorl/options.h"

namespace kindred::sorl {

struct Minibatch {
  std::int64_t trajectories = 0;
  std::vector<std::int64_t> steps;   ///< Of the dataset, slice after slice.
  std::vector<std::int64_t> owners;  ///< [steps]: the trajectory's place in the minibatch.
  std::vector<std::size_t> ends;     ///< [slices]: where in `steps` each ends.
};

class Minibatches {
 public:
  /// Both must outlive this.
  Minibatches(const Trajectories& data, const Options& options);

  /// Every trajectory is in one minibatch, in an order drawn from the seed and the round.
  std::int64_t count() const;
  void shuffle(std::int64_t round);
  Minibatch make(std::int64_t index) const;

 private:
  const Trajectories& data_;
  const Options& options_;
  DrawOrder draws_;
  std::int64_t round_ = 0;
  std::vector<std::int64_t> order_;  // of the episodes
};

}  // namespace kindred::sorl
