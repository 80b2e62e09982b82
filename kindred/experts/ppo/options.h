// What there is to choose about training an expert.
#pragma once

#include <cstdint>

#include "kindred/core/options.h"
#include "kindred/core/workers.h"

namespace kindred {

struct PpoOptions {
  std::int64_t steps = 1'000'000;  ///< Environment steps in all.
  std::int64_t lanes = 16;         ///< Episodes side by side.
  std::int64_t lane_steps = 128;   ///< Steps of each lane between two updates.
  std::int64_t epochs = 10;        ///< Passes over the steps of an update.
  std::int64_t minibatch = 256;    ///< Steps per gradient.
  std::int64_t hidden = 64;        ///< Units in each of the two hidden layers.
  double discount = 0.99;          ///< Weight of the next step's reward.
  double trace = 0.95;             ///< GAE's lambda.
  double clip = 0.2;               ///< How far a probability may move, as a share.
  double learning_rate = 3e-4;     ///< At the start; falls linearly
  double final_learning_rate = 0;  ///< to this.
  double entropy = 0;              ///< Weight of the entropy at the start; changes linearly
  double final_entropy = 0;        ///< to this.
  double max_gradient_norm = 0.5;  ///< Of each network's gradient.
  double target_kl = 0;            ///< Ends an update beyond this divergence; 0: never.
  double deviation = 1;            ///< Of continuous actions at the start.
  bool standardise = true;         ///< Inputs, by running statistics.
  double memory = 50;              ///< Updates after which statistics of the inputs fade.
  bool scale_rewards = true;       ///< Divide rewards by the deviation of the discounted return.
  std::int64_t checkpoint = 50;    ///< Updates between two checkpoints; lanes start over there.
  std::int64_t seed = 0;           ///< Names the random streams.
  Workers workers = {};            ///< No option: they never change the result.
  OptionTable describe();

  std::int64_t batch() const { return lanes * lane_steps; }
  std::int64_t updates() const { return (steps + batch() - 1) / batch(); }
};

}  // namespace kindred
