// What of this room is done by the part that needs LibTorch.
#include "kindred/dist/group.h"

namespace kindred {

constinit decltype(connect_to_agent) connect_to_agent;

}  // namespace kindred
