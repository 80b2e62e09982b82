// All episodes as points in the plane.
#pragma once

#include "kindred/findings/column.h"
#include "kindred/findings/run_data.h"

namespace kindred::findings {

/// The views, the one to show first in front. With two clusters the simplex is a line, and the
/// vertical axis is how well an episode's own policy explains it; with three it is a triangle; with
/// more, a polygon.
Json episode_maps(const RunData& found);

}  // namespace kindred::findings
