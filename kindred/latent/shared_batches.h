// Autoencoders over several processes: either each trains some of the restarts, or all train every
// restart together, each on its parts of every batch.
#pragma once

#include <memory>

#include "kindred/latent/options.h"
#include "kindred/nn/autoencoder.h"

namespace kindred {
struct RunContext;
struct Trajectories;
}  // namespace kindred

namespace kindred::latent {

/// Whether sharing batches of `data` takes the processes of a run less time than spreading
/// restarts, as far as sizes tell.
bool shares_batches(const Options& resolved, const Trajectories& data, const RunContext& run);

/// The parts of batches over the processes of a run; null for one process.
std::unique_ptr<PartSharing> share_parts(const RunContext& run);

}  // namespace kindred::latent
