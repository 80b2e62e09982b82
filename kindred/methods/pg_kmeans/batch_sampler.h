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
  const Trajectories& data_;
  const Options& options_;
  Random random_;
  DrawBuffer buffer_;
  bool filled_ = false;  // for the last minibatch
  std::vector<std::int64_t> steps_;
};

}  // namespace kindred::pg_kmeans
