// PathFollowing: push a ball across the plane to a point, along a path or freely.
//
// Observation: position, velocity and goal, two numbers each. An action is a force, clipped to
// [-1, 1] in each direction when executed: v <- damping (v + force a + noise), p <- p + v. Episodes
// start at rest and last the whole horizon.
#pragma once

#include <array>
#include <span>

#include "kindred/envs/environment.h"

namespace kindred {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

using Polyline = std::array<Point, 3>;

/// The distance from a point to the nearest point of the segments between neighbours.
double distance_to_polyline(Point point, std::span<const Point> polyline);

/// What is rewarded: nothing; being near the goal; or that and being near a path.
enum class PathReward { kNone, kFree, kUpFirst, kRightFirst };

struct PathFollowingOptions {
  std::int64_t horizon = 100;             ///< Steps of every episode.
  double noise = 0.01;                    ///< Standard deviation of the noise on the velocity.
  double damping = 0.99;                  ///< Share of the velocity that a step keeps.
  double force = 0.1;                     ///< Velocity that a full push adds.
  PathReward reward = PathReward::kNone;  ///< What is rewarded.
  OptionTable describe();
};

class PathFollowing final : public Environment {
 public:
  using Options = PathFollowingOptions;
  static constexpr const char* kName = "path-following";
  static constexpr const char* kSummary = "Push a ball across the plane to the point (1, 1).";

  static constexpr Point kGoal = {1.0, 1.0};
  static constexpr Polyline kUpFirst = {{{-1.0, -1.0}, {-1.0, 1.0}, {1.0, 1.0}}};
  static constexpr Polyline kRightFirst = {{{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}}};
  static constexpr double kPathCost = 5.0;  ///< Per unit of distance to the path.
  static constexpr double kRadius = 2.0;    ///< The square of what exceeds it is a cost.

  explicit PathFollowing(Options options = {});

  std::unique_ptr<Lanes> make_lanes(std::int64_t count) const override;

  /// The reward of arriving at a position.
  double reward_at(Point position) const;

 private:
  Options options_;
};

}  // namespace kindred
