#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/envs/mujoco/locomotion.h"

namespace kindred {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

bool within(std::span<const double> values, double limit) {
  return std::ranges::all_of(values, [=](double value) { return std::abs(value) < limit; });
}

// The height comes second among the planar bodies' positions and third among the Ant's; the planar
// bodies' pitch comes third.
bool hopper_stands(const BodyState& state) {
  return state.qpos[1] > 0.7 && std::abs(state.qpos[2]) < 0.2 &&
         within(state.qpos.subspan(2), 100.0) && within(state.qvel, 100.0);
}

bool walker_stands(const BodyState& state) {
  return state.qpos[1] > 0.8 && state.qpos[1] < 2.0 && std::abs(state.qpos[2]) < 1.0;
}

bool ant_stands(const BodyState& state) {
  return within(state.qpos, kUnlimited) && within(state.qvel, kUnlimited) && state.qpos[2] >= 0.2 &&
         state.qpos[2] <= 1.0;
}

bool always(const BodyState&) { return true; }

constexpr std::array kTasks = {
    LocomotionTask{.name = "hopper",
                   .summary = "Hop forward on one leg without falling.",
                   .frame_skip = 4,
                   .unseen = 1,
                   .seen_speed = 10.0,
                   .control_cost = 0.001,
                   .alive_reward = 1.0,
                   .follows_torso = false,
                   .has_contact_forces = false,
                   .start_noise = 0.005,
                   .normal_start_speed = false,
                   .is_healthy = hopper_stands,
                   .can_fail = true,
                   .reference_returns = {-20.272305, 3234.3}},
    LocomotionTask{.name = "halfcheetah",
                   .summary = "Run forward on a back and a front leg.",
                   .frame_skip = 5,
                   .unseen = 1,
                   .seen_speed = kUnlimited,
                   .control_cost = 0.1,
                   .alive_reward = 0.0,
                   .follows_torso = false,
                   .has_contact_forces = false,
                   .start_noise = 0.1,
                   .normal_start_speed = true,
                   .is_healthy = always,
                   .can_fail = false,
                   .reference_returns = {-280.178953, 12135.0}},
    LocomotionTask{.name = "walker2d",
                   .summary = "Walk forward on two legs without falling.",
                   .frame_skip = 4,
                   .unseen = 1,
                   .seen_speed = 10.0,
                   .control_cost = 0.001,
                   .alive_reward = 1.0,
                   .follows_torso = false,
                   .has_contact_forces = false,
                   .start_noise = 0.005,
                   .normal_start_speed = false,
                   .is_healthy = walker_stands,
                   .can_fail = true,
                   .reference_returns = {1.629008, 4592.3}},
    LocomotionTask{.name = "ant",
                   .summary = "Run forward on four legs without toppling.",
                   .frame_skip = 5,
                   .unseen = 2,
                   .seen_speed = kUnlimited,
                   .control_cost = 0.5,
                   .alive_reward = 1.0,
                   .follows_torso = true,
                   .has_contact_forces = true,
                   .start_noise = 0.1,
                   .normal_start_speed = true,
                   .is_healthy = ant_stands,
                   .can_fail = true,
                   .reference_returns = {-325.6, 3879.7}},
};

}  // namespace

std::span<const LocomotionTask> locomotion_tasks() { return kTasks; }

const LocomotionTask& find_locomotion_task(std::string_view name) {
  const auto found = std::ranges::find(kTasks, name, &LocomotionTask::name);
  if (found == kTasks.end()) throw InvalidArgument("'{}' is not a locomotion task", name);
  return *found;
}

OptionTable LocomotionOptions::describe(const LocomotionTask& task) {
  OptionTable table = {
      choice("inertia", inertia, {"old", "native"},
             "Mass of capsules: as in the MuJoCo of D4RL's data (old), or true to their shape."),
      integer("horizon", horizon, 1, 1000000, "Steps after which an episode is cut off.")};
  if (task.has_contact_forces)
    table.push_back(flag("contact-forces", contact_forces,
                         "Observe the contact forces on every body too, each cut to ±1."));
  return table;
}

}  // namespace kindred
