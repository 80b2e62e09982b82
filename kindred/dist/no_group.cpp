// In the place of gloo_group.cpp where Gloo's headers are missing.
#include "kindred/core/error.h"
#include "kindred/dist/group.h"

namespace kindred {
namespace {

std::shared_ptr<Communicator> refuse(const GroupOptions&) {
  throw InvalidArgument(
      "this Kindred was built without Gloo, by which processes speak; install libgloo-dev and "
      "build it again");
}

const TorchFunctionIs is_join_group(join_group, &refuse);

}  // namespace
}  // namespace kindred
