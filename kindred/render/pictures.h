// The kinds of pictures there are, each made for the episodes it will draw. Episodes and theme must
// outlive the picture.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kindred/render/episode.h"
#include "kindred/render/sheet.h"
#include "kindred/render/theme.h"

namespace kindred::render {

/// The whole route through a gridworld on one map. `object` is what an object is called. Throws
/// InvalidArgument unless all episodes are of gridworlds.
std::unique_ptr<Picture> make_grid_picture(std::span<const Episode> episodes, const Theme& theme,
                                           const std::string& object);

/// Every step in a gridworld as a small map of its own; else as make_grid_picture.
std::unique_ptr<Picture> make_frames_picture(std::span<const Episode> episodes, const Theme& theme,
                                             const std::string& object);

/// Whether an episode has the observations and actions of path-following.
bool shows_path(const Episode& episode);

/// The route through the plane of path-following. Throws InvalidArgument unless all show one.
std::unique_ptr<Picture> make_path_picture(std::span<const Episode> episodes, const Theme& theme);

/// Observations, return and actions over time. `dimensions` says which observations; empty: the
/// first twelve. Throws InvalidArgument when there is no such dimension.
std::unique_ptr<Picture> make_curves_picture(std::span<const Episode> episodes, const Theme& theme,
                                             const std::string& environment,
                                             std::span<const std::int64_t> dimensions);

}  // namespace kindred::render
