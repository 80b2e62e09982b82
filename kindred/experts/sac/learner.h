// The gradient half of SAC: two critics learn what actions are worth, the actor learns to prefer
// the better ones while it stays as undecided as asked.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/envs/environment.h"
#include "kindred/experts/network_policy.h"
#include "kindred/experts/sac/options.h"
#include "kindred/experts/sac/replay.h"
#include "kindred/nn/adam.h"

namespace kindred::sac {

/// What a gradient step is taken on.
struct Minibatch {
  std::vector<std::int64_t> rows;  ///< Of the replay.
  std::vector<float> next_noise;   ///< [rows, action width], for the actions that follow,
  std::vector<float> noise;        ///< and for those of the actor's loss.
};

/// Draws it.
Minibatch draw_minibatch(const Replay& replay, std::int64_t rows, std::int64_t action_width,
                         Random& random);

class Learner {
 public:
  /// Throws InvalidArgument where actions are discrete.
  Learner(const EnvironmentSpec& spec, const SacOptions& options);
  ~Learner();

  const InputView& view() const { return view_; }
  const Mlp& actor() const { return actor_; }
  const std::array<Mlp, 2>& critics() const { return critics_; }
  const std::array<Mlp, 2>& targets() const { return targets_; }
  double temperature() const;

  /// Takes the gradient of ½ (critic - target)², summed over both critics, a mean over the rows.
  /// Returns the mean squared error of one.
  double critic_gradient(const Replay& replay, const Minibatch& batch);
  /// One step against it; the target critics follow.
  void critic_step(double learning_rate);

  /// Takes the gradient of temperature · log-density − the lower value. Returns the mean entropy.
  double actor_gradient(const Replay& replay, const Minibatch& batch);
  /// One step against it, and one of the temperature towards the entropy asked for.
  void actor_step(double learning_rate, double entropy);

  /// The gradients that were taken last: both critics' one after the other, and the actor's.
  std::span<const float> critics_gradient() const;
  std::span<const float> actors_gradient() const;

  /// Everything the next step depends on but the options, and back again. Throws DataFormatError
  /// on what networks of another shape saved.
  std::vector<float> save() const;
  void restore(std::span<const float> saved);

 private:
  struct Chunk;
  using Part = void (Learner::*)(const Replay&, const Minibatch&, std::int64_t begin,
                                 std::int64_t count, Chunk&) const;
  /// Has `part` of the minibatch done chunk by chunk, and adds up `gradient` and the sums into the
  /// first chunk. Returns the sum.
  double over_chunks(const Replay& replay, const Minibatch& batch, Part part,
                     std::vector<float> Chunk::*gradient);
  void critics_part(const Replay& replay, const Minibatch& batch, std::int64_t begin,
                    std::int64_t count, Chunk& chunk) const;
  void actor_part(const Replay& replay, const Minibatch& batch, std::int64_t begin,
                  std::int64_t count, Chunk& chunk) const;
  void set_targets(const Replay& replay, const Minibatch& batch, std::int64_t begin,
                   std::int64_t count, Chunk& chunk) const;
  void look(const Replay& replay, const Minibatch& batch, std::int64_t begin, std::int64_t count,
            std::span<const float> Step::*side, Chunk& chunk) const;
  std::span<const float> act(std::int64_t count, std::span<const float> noise, Chunk& chunk) const;
  void join_pairs(std::int64_t count, Chunk& chunk) const;

  SacOptions options_;
  std::int64_t action_width_;
  InputView view_;
  Mlp actor_;
  std::array<Mlp, 2> critics_, targets_;
  std::vector<float> log_temperature_;  // one number
  Adam actor_adam_, temperature_adam_;
  std::array<Adam, 2> critic_adams_;
  std::vector<std::unique_ptr<Chunk>> chunks_;  // their sums are in the first
};

}  // namespace kindred::sac
