// Step columns read from, and written to, groups of HDF5 datasets: what D4RL (one group), Minari
// and robomimic (one group per episode) have in common. Internal.
#pragma once

#include <string>
#include <vector>

#include "kindred/data/formats.h"
#include "kindred/data/hdf5_input.h"
#include "kindred/data/hdf5_output.h"
#include "kindred/data/trajectories.h"

namespace kindred::hdf5 {

/// What a format calls the columns of a group, and what it promises about their lengths.
struct StepLayout {
  std::string observations = "observations";
  std::string actions = "actions";
  std::string rewards = "rewards";
  std::string terminals = "terminals";
  std::string timeouts = "timeouts";
  bool final_observation = false;  ///< One more observation than actions; it is dropped.
  std::string length_attribute{};  ///< Attribute of a group that counts its steps, or empty.
  bool one_episode_each = true;    ///< A group is an episode; else flags say where they end.
};

/// Reads the columns of all groups one after the other; offsets are where each group begins.
/// Rewards and flags are optional, but all groups must agree. Arrays that the options name take the
/// place of the layout's. Sets no ids and no labels.
Trajectories read_steps(const InputFile& file, const std::vector<std::string>& groups,
                        StepLayout layout, const ReadOptions& options);

/// Children of `parent` called `prefix` and a number, in the order of the numbers, with `parent`
/// in front.
std::vector<std::string> numbered_children(const InputFile& file, const std::string& parent,
                                           const std::string& prefix);

/// Takes the groups without steps out of `groups` and returns them.
std::vector<std::string> remove_empty(const InputFile& file, std::vector<std::string>& groups,
                                      const StepLayout& layout);

/// Writes the observations and actions of steps [begin, end) under these names; interned
/// observations are expanded. With `repeat_last` the last observation is written twice.
void write_observations(OutputFile& file, const std::string& name, const Observations& rows,
                        std::int64_t begin, std::int64_t end, bool repeat_last = false);
void write_actions(OutputFile& file, const std::string& name, const Actions& actions,
                   std::int64_t begin, std::int64_t end);

/// "group/name", or the name alone in the root.
std::string join(const std::string& group, const std::string& name);

}  // namespace kindred::hdf5
