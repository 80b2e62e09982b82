// Minibatches of whole trajectories in the form the autoencoder takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kindred/clustering/network_inputs.h"
#include "kindred/core/workers.h"
#include "kindred/data/draw_order.h"
#include "kindred/data/trajectories.h"
#include "kindred/nn/autoencoder.h"
#include "kindred/nn/sequence_batch.h"

namespace kindred::latent {

/// Sequences computed together on one core.
inline constexpr std::int64_t kPartSize = 16;

/// Some trajectories of a dataset, cut into parts that are computed on different cores.
struct MiniBatch {
  std::vector<std::int64_t> episodes;  ///< In the order of the parts' sequences.
  std::vector<SequenceBatch> parts;

  std::int64_t steps() const;
  /// Steps a padded computation adds: every sequence as long as its part's longest.
  std::int64_t padding() const;
};

/// What the networks see of a dataset's steps.
class StepSource {
 public:
  /// `data` must outlive this. `actions`: how many (numbers of) actions the networks know.
  StepSource(const Trajectories& data, const NetworkInputs& inputs, std::int64_t actions);

  /// Fills a batch with whole trajectories, in parts of at most `part_size`, on several threads.
  /// Lengths are spread evenly over the parts. Where batches are shared, parts of others only say
  /// how long their sequences are.
  void fill(std::span<const std::int64_t> episodes, std::int64_t part_size, const Workers& workers,
            MiniBatch& batch, const PartSharing* sharing = nullptr) const;

 private:
  void pack_part(std::span<const std::int64_t> episodes, SequenceBatch& part) const;
  void fill_part(std::span<const std::int64_t> episodes, SequenceBatch& part) const;
  void add_repeating_steps(std::span<const std::int64_t> steps, SequenceBatch& part) const;
  void add_single_steps(std::span<const std::int64_t> steps, SequenceBatch& part) const;

  const Trajectories& data_;
  const NetworkInputs& inputs_;
  std::int64_t actions_;
  std::vector<float> table_;  // [distinct, inputs]; interned observations only
};

/// The order in which trajectories are visited: every epoch a new permutation in which neighbours
/// within `pool` batches are sorted by length (so that a padded batch wastes little), then dealt as
/// batches in random order. Batch `number` is the same whatever was asked before.
class BatchOrder {
 public:
  /// `buffer`: how many steps are visited from at a time (draw_order.h); 0: all.
  BatchOrder(const Trajectories& data, std::int64_t batch_size, std::int64_t pool,
             std::int64_t buffer, std::uint64_t seed, std::int64_t restart);

  std::int64_t per_epoch() const { return per_epoch_; }
  /// The episodes of a batch; valid until the next call.
  std::span<const std::int64_t> operator[](std::int64_t number);

 private:
  void shuffle(std::int64_t epoch);

  const Trajectories& data_;
  DrawOrder draws_;
  std::int64_t batch_size_, pool_, per_epoch_;
  std::uint64_t seed_;
  std::int64_t restart_;
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;
};

}  // namespace kindred::latent
