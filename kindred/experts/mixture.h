// Datasets that mix several policies of one MuJoCo task, with truth: of different trainings, at
// their end and at an earlier stage.
//
// The pool of a task is every policy of it that the program comes with (shipped_names in
// recipes.h). Which of them a mixture holds depends on the dataset's seed: the stream (seed,
// "mixture") shuffles the pool, and the first n are taken in that order. The same seed with a
// larger n keeps these and adds others.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/experts/rollout.h"

namespace kindred {

struct MixtureOptions {
  std::int64_t policies = 0;   ///< How many are drawn; 0: the whole pool.
  bool deterministic = false;  ///< Policies act by their mean.
  double noise = 0.0;          ///< Deviation of Gaussian noise that every action gets on top.
  double action_scale = 1.0;   ///< Recorded actions are multiplied by this,
  double action_shift = 0.0;   ///< then moved by this. The environment gets them as they were.
  std::int64_t duplicate = 0;  ///< Episodes that are repeated at the end, under new ids.
  OptionTable describe();
};

/// The names of the policies that can be mixed; empty where the environment is not a MuJoCo task.
std::vector<std::string> mixture_pool(std::string_view environment);

/// The `count` policies that `seed` takes from the pool, all of it when `count` is 0, as a list for
/// make_experts. Throws InvalidArgument when the pool is smaller.
std::string draw_mixture(std::string_view environment, std::int64_t count, std::int64_t seed);

/// A dataset as generate() makes it, of policies that act and are recorded as `mixture` says. The
/// oracle knows how they act. Provenance names the options under "mixture" and, where episodes are
/// repeated, which ones under "duplicates".
Trajectories generate_mixture(const Environment& environment, const Policies& policies,
                              MixtureOptions mixture, const GenerateOptions& options);

}  // namespace kindred
