// What processes that share a run, and each need its result, tell each other besides the fit.
#pragma once

#include <string>

#include "kindred/dist/communicator.h"
#include "kindred/runs/run_folder.h"

namespace kindred {

/// Throws InvalidArgument, on every rank, where a rank's text is not the first one's. `what` says
/// what it stands for. Collective.
void require_alike(const std::string& own, const std::string& what, Communicator& ranks);

/// Writes the results of the first rank's finished run into the folders of the others, which name
/// one each. Collective.
void hand_out(const RunFolder& folder, Communicator& ranks);

}  // namespace kindred
