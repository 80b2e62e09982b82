// First guesses at who acts: windows of a few dozen steps, clustered as if they were episodes.
#pragma once

#include <cstdint>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"

namespace kindred {

/// The same steps with every episode cut into equal windows of about `length`.
Trajectories in_windows(const Trajectories& data, std::int64_t length);

/// For each number of clusters from 2 to `most` the one that predicts best: labels of steps, -1
/// where a window was not looked at.
std::vector<std::vector<std::int32_t>> cluster_windows(const Trajectories& data,
                                                       std::int64_t length, std::int64_t most,
                                                       std::int64_t seed, const RunContext& run);

}  // namespace kindred
