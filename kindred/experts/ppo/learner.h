// The gradient half of PPO: actor and critic move towards what paid, but not far.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/experts/ppo/experience.h"
#include "kindred/nn/adam.h"

namespace kindred::ppo {

/// Means over an update.
struct UpdateStatistics {
  double entropy = 0.0;          ///< Nats.
  double divergence = 0.0;       ///< KL from the policy that acted.
  double clipped = 0.0;          ///< Share of steps at the clip.
  double value_error = 0.0;      ///< Squared, of scaled returns.
  std::int64_t minibatches = 0;  ///< Fewer than planned where the divergence ended it.
};

class Learner {
 public:
  Learner(const EnvironmentSpec& spec, const PpoOptions& options);
  ~Learner();

  const Networks& networks() const { return networks_; }
  InputView& view() { return networks_.view; }

  /// Several passes over the experience in random order, a step for each minibatch.
  UpdateStatistics update(const Experience& experience, double learning_rate, double entropy,
                          Random random);

  /// Takes the gradient of the loss over `rows`, no more than a minibatch of them, each of which
  /// counts `weight`; so do the statistics that are returned.
  UpdateStatistics gradient_on(const Experience& experience, std::span<const std::int64_t> rows,
                               double entropy, float weight);
  /// The gradient that was taken last: the actor's, its deviations' and the critic's. It may be
  /// changed until step(), as by adding what other processes found.
  std::span<float> gradient();
  /// One step against gradient().
  void step(double learning_rate);

  /// Everything the next update depends on but the options, and back again. Throws DataFormatError
  /// on what networks of another shape saved.
  std::vector<float> save() const;
  void restore(std::span<const float> saved);

 private:
  struct Gradient;
  std::size_t actor_size() const { return actor_adam_.state().first.size(); }
  void add_gradient(const Experience& experience, std::span<const std::int64_t> rows,
                    double entropy, float weight, Gradient& out) const;
  void actor_loss(const Experience& experience, std::span<const std::int64_t> rows, double entropy,
                  float weight, Gradient& out) const;
  void critic_loss(const Experience& experience, std::span<const std::int64_t> rows, float weight,
                   Gradient& out) const;

  PpoOptions options_;
  Networks networks_;
  Adam actor_adam_, critic_adam_;  // the deviations lie behind the actor's parameters
  std::vector<std::unique_ptr<Gradient>> gradients_;  // one per chunk; their sum is in the first
};

}  // namespace kindred::ppo
