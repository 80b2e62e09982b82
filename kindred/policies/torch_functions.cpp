// What of this room is done by the part that needs LibTorch.
#include "kindred/policies/device_steps.h"
#include "kindred/policies/torch_script.h"

namespace kindred {

constinit decltype(make_device_steps) make_device_steps;
constinit decltype(save_torch_script) save_torch_script;

}  // namespace kindred
