// What of this room is done by the part that needs MuJoCo.
#include "kindred/envs/mujoco/locomotion.h"

namespace kindred {

bool has_mujoco() { return true; }

constinit decltype(make_locomotion) make_locomotion;

}  // namespace kindred
