// How good an answer to who acted when is, where the truth is known.
#pragma once

#include <nlohmann/json.hpp>

#include "kindred/data/trajectories.h"
#include "kindred/segments/segmentation.h"

namespace kindred {

/// Who truly acts at each step; empty where nobody knows.
std::vector<std::int32_t> true_actors(const Trajectories& data);

/// What a dataset whose true actors are known says of the segments found:
///
/// - `accuracy`: the share of steps with the right policy; `expected`: that share by the
/// posteriors.
/// - `switches`: the true ones; `seen`: those at most `within` steps from one that was found;
///   `inside_interval`: those inside the interval of one; `said_unsure`: of the others, those of
///   which an unsure stretch says that the one may have acted before and the other after it;
///   `neither`: those left.
/// - `invented`: switches found that are none.
/// - `posteriors`: for steps with a posterior of so much, from low to high, their number, the mean
///   posterior and the share that is right.
nlohmann::ordered_json score_segments(const Trajectories& data, const Segmentation& found);

}  // namespace kindred
