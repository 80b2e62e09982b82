// Draws the minibatches of a round: for each policy, steps of its own trajectories.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/methods/pg_kmeans/learner.h"

namespace kindred::pg_kmeans {

/// One minibatch for every policy of a stack.
struct Batch {
  std::int64_t width = 0;
  std::vector<std::int64_t> steps;  ///< [policies, width]
  std::vector<float> weights;       ///< [policies, width], each row summing to 1; empty: all equal.
};

class BatchSampler {
 public:
  BatchSampler(const Trajectories& data, const Options& options,
               std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
               std::int64_t round);

  /// The next minibatch; valid until the next call.
  const Batch& next();

 private:
  struct Member {
    Random random;
    std::vector<std::int64_t> episodes;
    std::vector<std::int64_t> ends;  // running sum of the episodes' lengths
  };

  void draw_steps();
  void draw_trajectories();

  const Trajectories& data_;
  const Options& options_;
  std::vector<Member> members_;
  Batch batch_;
};

}  // namespace kindred::pg_kmeans
