// The shape of the policy networks that fit a dataset.
#pragma once

#include <cstdint>

#include "kindred/clustering/network_view.h"
#include "kindred/data/trajectories.h"
#include "kindred/nn/policy_stack.h"

namespace kindred {

/// The architecture that fits `data` through `view`.
PolicyArchitecture architecture_for(const Trajectories& data, const NetworkView& view,
                                    std::int64_t hidden, std::int64_t layers);

}  // namespace kindred
