// The conflict graph as an SVG picture: trajectories on a circle, group by group, and a line for
// each conflict. Those within a group stand out: a valid clustering has none.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kindred/conflicts/study.h"

namespace kindred {

struct ConflictPictureOptions {
  std::int64_t count = 24;  ///< Trajectories at most: more are a tangle.
  bool dark = false;
};

/// `groups`: the cluster of each trajectory; those below 0 are not drawn.
std::string draw_conflicts(const ConflictStudy& study, const Trajectories& data,
                           std::span<const std::int32_t> groups,
                           const ConflictPictureOptions& options = {});

}  // namespace kindred
