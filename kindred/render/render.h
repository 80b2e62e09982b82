// Pictures of trajectories, as SVG text.
//
//   const auto data = read_trajectories("takeball.h5");
//   write_text("walk.svg", draw_trajectory(data, 12));
//
// What is drawn follows from the data: routes through a gridworld, routes through the plane of
// path-following, or else curves over time. The same data and options give the same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/data/trajectories.h"

namespace kindred {

enum class Drawing { kAuto, kGrid, kPath, kCurves };

struct RenderOptions {
  /// What to draw; auto chooses it from the data.
  Drawing as = Drawing::kAuto;
  /// Whether every step of a gridworld is a small map of its own.
  bool frames = false;
  /// Whether the picture has a dark ground.
  bool dark = false;
  /// Which dimensions of the observations to draw as curves; empty: the first twelve.
  std::vector<std::int64_t> dimensions;
  /// The cluster each episode of the data was found in, shown by colour; or empty. Not an option.
  std::vector<std::int32_t> clusters;

  OptionTable describe();
};

/// The name of the environment, from provenance or from the name of the file; empty when unknown.
std::string environment_of(const Trajectories& data);
/// What a gridworld's objects are: "ball".
std::string object_in(const std::string& environment);

/// "grid", "path", "curves"; "auto" for kAuto.
std::string_view name_of(Drawing drawing);

/// What kAuto means for this episode.
Drawing choose_drawing(const Trajectories& data, std::int64_t episode);

/// One episode. Throws InvalidArgument when there is no such episode, or when the data does not
/// show what the options ask for.
std::string draw_trajectory(const Trajectories& data, std::int64_t episode,
                            const RenderOptions& options = {});

/// Several episodes in panels side by side. All are drawn as the first one is.
std::string draw_trajectories(const Trajectories& data, std::span<const std::int64_t> episodes,
                              const RenderOptions& options = {});

/// `count` episodes that show every group: the first of each, then the second of each, and so on,
/// sorted by group. `groups` holds one number per episode; all the same group where it is empty.
std::vector<std::int64_t> representative_episodes(std::int64_t episodes,
                                                  std::span<const std::int32_t> groups,
                                                  std::int64_t count);

}  // namespace kindred
