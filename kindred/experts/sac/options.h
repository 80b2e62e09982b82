// What there is to choose about training an expert by SAC.
#pragma once

#include <cstdint>

#include "kindred/core/options.h"
#include "kindred/core/workers.h"

namespace kindred {

struct SacOptions {
  std::int64_t steps = 1'000'000;     ///< Environment steps in all.
  std::int64_t lanes = 16;            ///< Episodes side by side.
  std::int64_t lane_steps = 16;       ///< Steps of each lane between two updates.
  std::int64_t gradients = 64;        ///< Gradient steps of an update.
  std::int64_t minibatch = 128;       ///< Steps per gradient.
  std::int64_t hidden = 128;          ///< Units in each of the two hidden layers.
  std::int64_t start = 10'000;        ///< Steps at random before anything is learned.
  std::int64_t replay = 1'000'000;    ///< Steps that are remembered.
  std::int64_t actor_every = 2;       ///< Gradient steps of the critics to one of the actor.
  double discount = 0.99;             ///< Weight of the next step's reward.
  double follow = 0.005;              ///< How far target critics move towards the critics.
  double learning_rate = 1e-3;        ///< At the start; falls linearly
  double final_learning_rate = 1e-4;  ///< to this.
  double target_entropy = -1.0;       ///< Nats per number of an action that are aimed at.
  double temperature = 0.2;           ///< What a nat of entropy is worth at the start.
  std::int64_t checkpoint = 500;      ///< Updates between two checkpoints; lanes start over there.
  std::int64_t seed = 0;              ///< Names the random streams.
  Workers workers = {};               ///< No option: they never change the result.
  OptionTable describe();

  std::int64_t batch() const { return lanes * lane_steps; }
  std::int64_t updates() const { return (steps + batch() - 1) / batch(); }
};

}  // namespace kindred
