// One episode taken out of the store, with the words that describe it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/trajectories.h"
#include "kindred/envs/environment.h"

namespace kindred::render {

/// A group an episode belongs to: its true policy, or the cluster it was found in.
struct Group {
  std::int64_t number = 0;
  std::string name;
};

struct Episode {
  std::int64_t number = 0;
  std::string id = {};
  std::int64_t length = 0;
  std::int64_t observation_dim = 0;
  std::vector<float> observations = {};  ///< [length, observation_dim]
  std::int64_t action_width = 0;  ///< How many actions there are, or how many numbers in one.
  std::vector<std::int32_t> discrete_actions = {};  ///< [length], or empty: they are continuous.
  std::vector<float> continuous_actions = {};       ///< [length, action_width], or empty.
  std::vector<double> returns = {};  ///< [length]: the rewards so far; empty where not known.
  Ending ending = Ending::kNone;     ///< Of the last step, as far as is known.
  std::optional<Group> truth = {};
  std::optional<Group> cluster = {};

  bool is_discrete() const { return continuous_actions.empty(); }
  std::span<const float> observation(std::int64_t step) const;

  /// The group whose colour it wears: the cluster where there is one, else the true policy.
  const std::optional<Group>& shown_group() const { return cluster ? cluster : truth; }
  /// "Episode 12 · right-first"
  std::string heading() const;
  /// "17 steps · return 1"
  std::string summary() const;
};

/// `clusters` holds the cluster of every episode of the data, or nothing. Throws InvalidArgument
/// when there is no such episode, or a number in its observations or actions is not finite.
Episode take_episode(const Trajectories& data, std::int64_t number,
                     std::span<const std::int32_t> clusters);

}  // namespace kindred::render
