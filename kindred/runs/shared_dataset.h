// A dataset that the processes of a run read together, each the episodes it will hold.
#pragma once

#include "kindred/data/fingerprint.h"
#include "kindred/dist/communicator.h"

namespace kindred {

/// That of the whole dataset. Collective.
Fingerprint fingerprint_of(const Trajectories& data, Communicator& ranks, ThreadPool* pool);

/// What a reader that sees only some episodes cannot know: how many actions there are, and whether
/// observations repeat often enough to be interned. Collective.
void complete(Trajectories& data, bool interning, Communicator& ranks);

}  // namespace kindred
