// What of this room is done by the part that needs LibTorch.
#include "kindred/dist/group.h"

namespace kindred {

constinit decltype(join_group) join_group;
constinit decltype(keep_store) keep_store;

}  // namespace kindred
