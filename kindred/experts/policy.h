// A policy: for each situation, a distribution over actions.
//
// Discrete actions have a probability each; a continuous action is a diagonal Gaussian. Rollouts
// draw from this distribution and the oracle scores with it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kindred/core/random.h"
#include "kindred/envs/environment.h"

namespace kindred {

/// What a policy sees: of the two spans it is given the one it reads.
struct Situations {
  std::int64_t count = 0;
  std::span<const std::int32_t> states;  // [count]
  std::span<const float> observations;   // [count, observation_dim]
};

class Policy {
 public:
  Policy(std::string name, std::string summary)
      : name_(std::move(name)), summary_(std::move(summary)) {}
  virtual ~Policy() = default;

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }

  /// True for a table over the environment's states, which never looks at an observation.
  virtual bool reads_states() const = 0;

  /// Discrete: probabilities, out[count, actions]. Continuous: means and standard deviations,
  /// out[count, 2, action_dim]. Safe to call from several threads.
  virtual void distribution(const Situations& seen, std::span<float> out) const = 0;

 private:
  std::string name_;
  std::string summary_;
};

using Policies = std::vector<std::shared_ptr<const Policy>>;

/// Numbers in the distribution over one action.
std::int64_t distribution_width(const EnvironmentSpec& spec);

/// Draws an action from probabilities that sum to 1; never one of probability 0.
std::int32_t draw_discrete(std::span<const float> probabilities, Random& random);

/// Draws an action[dim] from a Gaussian[2, dim].
void draw_continuous(std::span<const float> gaussian, Random& random, std::span<float> action);

/// The log-density of action[dim] under a Gaussian[2, dim]. Where draws are `clipped` to ±1, a
/// number at a limit stands for all that lies beyond it, and counts with their probability. A
/// deviation below 1e-4, as that of an action that is certain, counts as 1e-4.
double gaussian_log_density(std::span<const float> gaussian, std::span<const float> action,
                            bool clipped = false);

/// A policy given by its probabilities in every state.
class TabularPolicy final : public Policy {
 public:
  /// probabilities: [states, actions]. Throws InvalidArgument unless each row is a distribution.
  TabularPolicy(std::string name, std::string summary, std::int64_t actions,
                std::vector<float> probabilities);

  /// The policy that takes rule(state) for certain.
  static std::shared_ptr<const TabularPolicy> deterministic(
      std::string name, std::string summary, const EnvironmentSpec& spec,
      const std::function<std::int32_t(std::int32_t state)>& rule);

  /// The probabilities of each action in `state`.
  std::span<const float> probabilities(std::int32_t state) const;

  bool reads_states() const override { return true; }
  void distribution(const Situations& seen, std::span<float> out) const override;

 private:
  std::size_t actions_;
  std::vector<float> probabilities_;
};

}  // namespace kindred
