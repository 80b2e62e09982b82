// What k-means makes of cheap summaries of the trajectories: where that gives the run's own groups,
// nothing more than the summary is needed to explain them.
#pragma once

#include "kindred/findings/column.h"
#include "kindred/findings/run_data.h"

namespace kindred::findings {

/// Two baselines with as many groups as the run has clusters, each on the mean and the deviation of
/// what a trajectory holds: "states" on its observations, "everything" also on its actions. Of each
/// the agreement with the run's labels and, where they are known, with the true policies. Where
/// there are many trajectories, on some of them. Null with one cluster.
Json baselines(const RunData& found);

}  // namespace kindred::findings
