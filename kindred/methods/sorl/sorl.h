// SORL's clustering stage: k policies learn from all trajectories, each from a trajectory by its
// share in it, p(z|τ) ∝ Σ_t π_z(a_t|s_t), and a trajectory belongs to the policy with the largest.
//
// Training lowers -Σ_τ Σ_z p(z|τ) Σ_t log π_z(a_t|s_t) with the shares held constant. The objective
// is its negative over all data; each restart ends with the policies of its best round, and the
// best restart wins.
#pragma once

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/data/trajectories.h"
#include "kindred/methods/sharing.h"
#include "kindred/methods/sorl/options.h"

namespace kindred::sorl {

/// Throws InvalidArgument for options that do not fit the data and for devices other than the CPU,
/// NumericError when training diverges. `data` must outlive the call only.
Clustering fit(const Trajectories& data, const Options& options, const RunContext& run = {});

/// Every process has all episodes, and trains the policies of some restarts.
inline Sharing sharing_of(const Options&, const Trajectories&, const RunContext&) {
  return Sharing::kPolicies;
}

}  // namespace kindred::sorl
