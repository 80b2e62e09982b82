// Stands in for the part that needs MuJoCo in a build without it.
#include "kindred/core/error.h"
#include "kindred/envs/mujoco/locomotion.h"

namespace kindred {
namespace {

std::unique_ptr<Locomotion> refuse(const LocomotionTask& task, LocomotionOptions) {
  throw InvalidArgument(
      "environment '{}' needs MuJoCo, which this build of Kindred does not have; install "
      "libmujoco-dev and libtinyxml2-dev, then configure and build it again",
      task.name);
}

}  // namespace

bool has_mujoco() { return false; }

constinit decltype(make_locomotion) make_locomotion{&refuse};

}  // namespace kindred
