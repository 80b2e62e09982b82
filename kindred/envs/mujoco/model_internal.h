// The compiled MuJoCo model of a task, from the files in models/.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "kindred/envs/mujoco/locomotion.h"

struct mjModel_;

namespace kindred {

struct ModelDeleter {
  void operator()(mjModel_* model) const;
};
using ModelPtr = std::unique_ptr<mjModel_, ModelDeleter>;

/// Throws DataFormatError with MuJoCo's own words. From then on a fatal error inside MuJoCo is a
/// NumericError instead of the end of the program, and its warnings are not printed.
ModelPtr load_model(std::string_view task, CapsuleInertia inertia);

/// The same model in which every capsule is massless, and a cylinder that touches nothing carries
/// the mass it had in the MuJoCo of D4RL's data. Capsules must be given by their half-length.
std::string with_old_inertia(std::string_view model);

}  // namespace kindred
