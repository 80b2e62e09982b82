// Whether two clusters act differently where they see similar states. That tells two policies from
// one policy that was in two places, which means of observations cannot.
#pragma once

#include "kindred/findings/column.h"
#include "kindred/findings/run_data.h"

namespace kindred::findings {

/// For every two clusters and some of their steps. A step is matched when a step of the other
/// cluster is no farther than one near it in its own cluster's other trajectories; how much its
/// action differs from that of the one is then compared with how much it differs from that of the
/// other. The verdict is "differ", "alike", "unclear", or "apart" where few steps are matched. Null
/// with one cluster, or with more than a page has room for.
Json matched_states(const RunData& found);

}  // namespace kindred::findings
