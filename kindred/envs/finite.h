// Environments with finitely many states, numbered from 0, each with an observation of its own.
//
// A derived class says where episodes start, which state follows which, and what a state looks
// like; running lanes is done here. Rewards are 0, as in the paper's gridworlds.
#pragma once

#include "kindred/envs/environment.h"

namespace kindred {

class FiniteEnvironment : public Environment {
 public:
  std::unique_ptr<Lanes> make_lanes(std::int64_t count) const override;
  void observe_state(std::int32_t state, std::span<float> out) const override = 0;

  virtual std::int32_t start(Random& random) const = 0;
  virtual std::int32_t next(std::int32_t state, std::int32_t action, Random& random) const = 0;
  virtual bool is_terminal(std::int32_t state) const = 0;

 protected:
  using Environment::Environment;
};

}  // namespace kindred
