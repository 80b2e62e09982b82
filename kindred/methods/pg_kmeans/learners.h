// The three learners behind make_learner.
#pragma once

#include <memory>

#include "kindred/methods/pg_kmeans/learner.h"

namespace kindred::pg_kmeans {

/// Action frequencies, exact; interned observations and discrete actions.
std::unique_ptr<Learner> make_tabular_learner(const Trajectories& data, const Options& options,
                                              const RunContext& run);

/// Networks; on counts where the data allows it, on minibatches of steps otherwise.
std::unique_ptr<Learner> make_network_learner(const Trajectories& data, const Options& options,
                                              const RunContext& run);

}  // namespace kindred::pg_kmeans
