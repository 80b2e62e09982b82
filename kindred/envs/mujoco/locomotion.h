// MuJoCo locomotion: D4RL's bodies that are to run forward (Hopper, HalfCheetah, Walker2d, Ant).
//
// The four tasks are four rows of one table (tasks.cpp) and four models (models/*.xml).
// Observations are positions without the ones along the ground, then velocities. Actions are the
// motors' torques as shares of their strength, cut to [-1, 1]. A build without MuJoCo knows the
// tasks but cannot make them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kindred/core/late_part.h"
#include "kindred/core/options.h"
#include "kindred/envs/environment.h"

namespace kindred {

/// How heavy a capsule of radius r and length h between its caps is: a solid cylinder of length
/// h + r, as in the MuJoCo with which D4RL's data were made, or what its shape weighs.
enum class CapsuleInertia { kOld, kNative };

/// Generalised positions and velocities in MuJoCo's order.
struct BodyState {
  std::span<const double> qpos;
  std::span<const double> qvel;
};

/// What tells one task from another.
struct LocomotionTask {
  const char* name;
  const char* summary;
  int frame_skip;       ///< Simulation steps per step of the environment.
  std::size_t unseen;   ///< Leading positions that are not observed.
  double seen_speed;    ///< Velocities are observed cut to ± this.
  double control_cost;  ///< Paid per unit of squared action.
  double alive_reward;  ///< Per step, the one that ends the episode included.
  bool follows_torso;   ///< Progress is where MuJoCo last saw the torso, just before a step ended.
  bool has_contact_forces;  ///< The option `contact-forces` exists.
  double start_noise;       ///< Scale of the noise added to position and velocity at the start.
  bool normal_start_speed;  ///< The velocities' noise is normal, not uniform.
  bool (*is_healthy)(const BodyState& state);  ///< An episode ends in a state that is not.
  bool can_fail;                               ///< Whether there are such states.
  ReturnRange reference_returns;
};

/// All tasks, whether this build can make them or not.
std::span<const LocomotionTask> locomotion_tasks();

/// Throws InvalidArgument on an unknown name.
const LocomotionTask& find_locomotion_task(std::string_view name);

struct LocomotionOptions {
  CapsuleInertia inertia = CapsuleInertia::kOld;
  std::int64_t horizon = 1000;  ///< Steps after which an episode is cut off.
  bool contact_forces = false;  ///< Observe the contact forces on every body too (Ant).
  OptionTable describe(const LocomotionTask& task);
};

/// Lanes whose exact state can be read and set.
class LocomotionLanes : public Lanes {
 public:
  using Lanes::Lanes;

  /// Valid until the lane is reset, stepped or set.
  virtual BodyState state(std::int32_t lane) const = 0;

  /// Puts the lane into a state, as if its episode had begun there; the steps it has left stay.
  /// Throws InvalidArgument on the wrong number of values.
  virtual void set_state(std::int32_t lane, const BodyState& state) = 0;

  /// Potential and kinetic energy, in joules.
  virtual double energy(std::int32_t lane) const = 0;
};

class Locomotion : public Environment {
 public:
  virtual std::unique_ptr<LocomotionLanes> make_locomotion_lanes(std::int64_t count) const = 0;
  std::unique_ptr<Lanes> make_lanes(std::int64_t count) const final {
    return make_locomotion_lanes(count);
  }

  /// In kilograms, without the world.
  virtual std::vector<double> body_masses() const = 0;

 protected:
  using Environment::Environment;
};

/// Whether this build can make locomotion environments.
bool has_mujoco();

/// Throws InvalidArgument on impossible options, or where this build has no MuJoCo.
extern MujocoFunction<std::unique_ptr<Locomotion>(const LocomotionTask& task,
                                                  LocomotionOptions options)>
    make_locomotion;

}  // namespace kindred
