// All episodes as points in the plane.
#pragma once

#include "kindred/findings/column.h"
#include "kindred/findings/run_data.h"

namespace kindred::findings {

/// The views, the one to show first in front. With two clusters the simplex is a line, and how well
/// the own policy fits stands upright on it; with three it is a triangle; with more, a polygon.
Json episode_maps(const RunData& found);

}  // namespace kindred::findings
