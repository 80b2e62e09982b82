// In the place of gloo_group.cpp where Gloo's headers are missing.
#include "kindred/core/error.h"
#include "kindred/dist/group.h"

namespace kindred {
namespace {

template <class Result>
Result refuse(const GroupOptions&) {
  throw InvalidArgument(
      "this Kindred was built without Gloo, by which processes speak; install libgloo-dev and "
      "build it again");
}

const LateFunctionIs is_join_group(join_group, &refuse<std::shared_ptr<Communicator>>);
const LateFunctionIs is_keep_store(keep_store, &refuse<std::shared_ptr<void>>);

}  // namespace
}  // namespace kindred
