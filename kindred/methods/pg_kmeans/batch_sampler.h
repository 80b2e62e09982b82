// Draws minibatches for one policy: steps of its own trajectories.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/methods/pg_kmeans/options.h"

namespace kindred::pg_kmeans {

class BatchSampler {
 public:
  /// For the cluster of `slot` under its restart's `labels`, which must have a member.
  BatchSampler(const Trajectories& data, const Options& options, std::int64_t slot,
               std::span<const std::int32_t> labels, std::int64_t round);

  /// The next minibatch: `batch-steps` steps drawn uniformly, or all steps of
  /// `batch-trajectories` trajectories. Valid until the next call.
  std::span<const std::int64_t> next();

 private:
  const Trajectories& data_;
  const Options& options_;
  Random random_;
  std::vector<std::int64_t> episodes_;
  std::vector<std::int64_t> ends_;  // running sum of the episodes' lengths
  std::vector<std::int64_t> steps_;
};

}  // namespace kindred::pg_kmeans
