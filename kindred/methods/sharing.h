// How the processes of a run share the fit of a method.
#pragma once

#include "kindred/core/progress.h"
#include "kindred/data/trajectories.h"
#include "kindred/latent/shared_batches.h"

namespace kindred {

/// How several processes share a fit: not at all; each looks at the episodes it holds; or all have
/// every episode, and each trains some of the policies, or all train one autoencoder at a time,
/// each on its parts of every batch.
enum class Sharing { kNone, kEpisodes, kPolicies, kBatches };

inline bool needs_all_episodes(Sharing sharing) {
  return sharing == Sharing::kPolicies || sharing == Sharing::kBatches;
}

/// Of a method that trains autoencoders.
inline Sharing sharing_of_autoencoders(const latent::Options& resolved, const Trajectories& data,
                                       const RunContext& run) {
  return latent::shares_batches(resolved, data, run) ? Sharing::kBatches : Sharing::kPolicies;
}

}  // namespace kindred
