// Finds out whether a dataset has few distinct observations, and keeps each of them once if so.
#pragma once

#include "kindred/data/trajectories.h"

namespace kindred {

/// The same observations, interned when at most one row in eight, and no more than 65,536, are
/// distinct; otherwise `observations` as they are. Rows are equal when their bytes are, so the
/// result is exact. The search ends as soon as too many rows were distinct, so that continuous
/// data cost almost nothing. Table rows are in order of first appearance. Throws nothing.
Observations intern(Observations observations);

}  // namespace kindred
