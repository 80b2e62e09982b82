// Stands in for locomotion.cpp in a build without MuJoCo.
#include "kindred/core/error.h"
#include "kindred/envs/mujoco/locomotion.h"

namespace kindred {

bool has_mujoco() { return false; }

std::unique_ptr<Locomotion> make_locomotion(const LocomotionTask& task, LocomotionOptions) {
  throw InvalidArgument(
      "environment '{}' needs MuJoCo, which this build of Kindred does not have; install "
      "libmujoco-dev and libtinyxml2-dev, then configure and build it again",
      task.name);
}

}  // namespace kindred
