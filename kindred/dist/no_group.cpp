// In the place of gloo_group.cpp where Gloo is missing.
#include "kindred/core/error.h"
#include "kindred/dist/group.h"

namespace kindred {
namespace {

[[noreturn]] void refuse() {
  throw InvalidArgument(
      "this Kindred was built without Gloo, by which processes speak; install libgloo-dev and "
      "build it again");
}

}  // namespace

std::shared_ptr<void> keep_store(const GroupOptions&) { refuse(); }
std::shared_ptr<Communicator> join_group(const GroupOptions&) { refuse(); }

}  // namespace kindred
