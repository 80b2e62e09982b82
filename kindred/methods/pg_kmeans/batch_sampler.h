// Draws minibatches for one policy: steps of its own trajectories, a buffer of them at a time where
// data is larger than memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/data/draw_order.h"
#include "kindred/methods/pg_kmeans/options.h"
#include "kindred/methods/pg_kmeans/plateau.h"

namespace kindred::pg_kmeans {

class BatchSampler {
 public:
  /// For the cluster of `slot` under its restart's `labels`, which must have a member.
  BatchSampler(const Trajectories& data, const Options& options, std::int64_t slot,
               std::span<const std::int32_t> labels, std::int64_t round);

  /// The next minibatch: `batch-steps` steps drawn uniformly from the buffer, or all steps of
  /// `batch-trajectories` of its trajectories. Valid until the next call.
  std::span<const std::int64_t> next();
  /// Has losses compared on the same trajectories, where the buffer does not hold all: within one
  /// filling of it, or over whole passes through all where fillings are too short for that. To be
  /// called after next().
  void tell(Plateau& plateau) const;

 private:
  /// The next of its own trajectories, as many as the buffer has room for.
  void fill_buffer();

  const Trajectories& data_;
  const Options& options_;
  Random random_;
  DrawOrder draws_;
  std::vector<std::int64_t> own_;       // its trajectories, in the order they come into the buffer
  std::size_t next_ = 0;                // of own_
  std::int64_t left_ = 0;               // steps to draw until the buffer is filled again
  bool filled_ = false;                 // for the last minibatch
  std::vector<std::int64_t> episodes_;  // in the buffer
  std::vector<std::int64_t> ends_;      // running sum of the episodes' lengths
  std::vector<std::int64_t> steps_;
};

}  // namespace kindred::pg_kmeans
