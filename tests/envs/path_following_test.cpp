// PathFollowing by its specification: how the ball moves, what is seen and what is rewarded.
#include "kindred/envs/path_following.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kindred/core/error.h"
#include "kindred/envs/registry.h"
#include "tests/envs/playing.h"

namespace kindred {
namespace {

/// One episode stepped by hand; what is seen is {x, y, vx, vy, goal x, goal y}.
class Ride {
 public:
  explicit Ride(const PathFollowing& environment)
      : environment_(environment), lanes_(environment.make_lanes(1)) {
    lanes_->reset(0, Random(1, "ride"));
  }

  std::vector<float> seen() const { return look(environment_, *lanes_, 0).observation; }
  Ending ending() const { return ending_; }

  float push(float x, float y) {
    const std::int32_t lane = 0;
    const std::array action = {x, y};
    float reward = 0.0f;
    lanes_->step({&lane, 1}, {{}, action}, {&reward, 1}, {&ending_, 1});
    return reward;
  }

 private:
  const PathFollowing& environment_;
  std::unique_ptr<Lanes> lanes_;
  Ending ending_ = Ending::kNone;
};

TEST(DistanceToPolyline, IsThatToTheNearestPoint) {
  const auto up = [](double x, double y) {
    return distance_to_polyline({x, y}, PathFollowing::kUpFirst);
  };
  EXPECT_NEAR(up(-1.0, 0.3), 0.0, 1e-12);
  EXPECT_NEAR(up(0.4, 1.0), 0.0, 1e-12);
  EXPECT_NEAR(up(-1.5, 0.0), 0.5, 1e-12);   // beside the first segment
  EXPECT_NEAR(up(0.0, 0.75), 0.25, 1e-12);  // below the second
  EXPECT_NEAR(up(-0.5, 0.0), 0.5, 1e-12);   // nearer to the first
  EXPECT_NEAR(up(-1.3, -1.4), 0.5, 1e-12);  // before the beginning
  EXPECT_NEAR(up(1.6, 1.8), 1.0, 1e-12);    // beyond the end
  EXPECT_NEAR(up(-1.3, 1.4), 0.5, 1e-12);   // around the corner
  EXPECT_NEAR(up(1.0, -1.0), 2.0, 1e-12);   // the other path's corner
  EXPECT_DOUBLE_EQ(distance_to_polyline({1.0, -1.0}, PathFollowing::kRightFirst), 0.0);
  EXPECT_DOUBLE_EQ(distance_to_polyline({0.25, -0.5}, PathFollowing::kRightFirst), 0.5);
  EXPECT_DOUBLE_EQ(distance_to_polyline({3.0, 4.0}, std::array<Point, 2>{}), 5.0);
}

TEST(PathFollowing, PaperDefaults) {
  const auto environment = make_environment("path-following");
  const auto& spec = environment->spec();
  EXPECT_THAT(spec.observation_shape, ::testing::ElementsAre(6));
  EXPECT_EQ(spec.action_kind, ActionKind::kContinuous);
  EXPECT_EQ(spec.action_width, 2);
  EXPECT_EQ(spec.horizon, 100);
  EXPECT_FALSE(spec.binary_observations);
  EXPECT_EQ(environment->options(), (nlohmann::json{{"horizon", 100},
                                                    {"noise", 0.01},
                                                    {"damping", 0.99},
                                                    {"force", 0.1},
                                                    {"reward", "none"}}));
}

TEST(PathFollowing, StartsAtRestUniformlyInItsSquare) {
  const PathFollowing environment({.horizon = 1});
  constexpr std::int32_t kEpisodes = 4000;
  double sum[2] = {}, squares[2] = {};
  for (const auto& episode : play(environment, 2, 0, kEpisodes)) {
    const auto& seen = episode.steps.front().observation;
    for (std::size_t d = 0; d < 2; ++d) {
      EXPECT_GE(seen[d], -1.5f);
      EXPECT_LE(seen[d], -0.5f);
      EXPECT_EQ(seen[2 + d], 0.0f);
      EXPECT_EQ(seen[4 + d], 1.0f);
      const double from_centre = static_cast<double>(seen[d]) + 1.0;
      sum[d] += from_centre / kEpisodes;
      squares[d] += from_centre * from_centre / kEpisodes;
    }
  }
  for (std::size_t d = 0; d < 2; ++d) {
    EXPECT_NEAR(sum[d], 0.0, 5.0 * std::sqrt(1.0 / 12.0 / kEpisodes));
    EXPECT_NEAR(squares[d], 1.0 / 12.0, 0.01);
  }
}

TEST(PathFollowing, MovesByItsEquations) {
  const PathFollowing environment({.noise = 0.0});
  Ride ride(environment);
  const auto start = ride.seen();
  ride.push(1.0f, -0.5f);
  // v = 0.99 * 0.1 * a
  EXPECT_NEAR(ride.seen()[2], 0.099, 1e-6);
  EXPECT_NEAR(ride.seen()[3], -0.0495, 1e-6);
  EXPECT_NEAR(ride.seen()[0], start[0] + 0.099f, 1e-6);
  EXPECT_NEAR(ride.seen()[1], start[1] - 0.0495f, 1e-6);
  ride.push(0.0f, 1.0f);
  // v = 0.99 * (v + 0.1 * a)
  EXPECT_NEAR(ride.seen()[2], 0.09801, 1e-6);
  EXPECT_NEAR(ride.seen()[3], 0.049995, 1e-6);
  EXPECT_NEAR(ride.seen()[0], start[0] + 0.19701f, 1e-6);
  EXPECT_NEAR(ride.seen()[1], start[1] + 0.000495f, 1e-6);
}

TEST(PathFollowing, OptionsScaleForceAndDamping) {
  const PathFollowing environment({.noise = 0.0, .damping = 0.5, .force = 0.4});
  Ride ride(environment);
  ride.push(1.0f, 0.5f);
  EXPECT_NEAR(ride.seen()[2], 0.2, 1e-6);
  EXPECT_NEAR(ride.seen()[3], 0.1, 1e-6);
}

TEST(PathFollowing, ForceIsClipped) {
  const PathFollowing environment({.noise = 0.0});
  Ride strong(environment), full(environment);
  strong.push(7.0f, -1.5f);
  full.push(1.0f, -1.0f);
  EXPECT_EQ(strong.seen(), full.seen());
}

TEST(PathFollowing, NoiseHasTheDeviationAskedInEachDirection) {
  const PathFollowing environment({.horizon = 1});
  constexpr std::int32_t kEpisodes = 20000;
  double sum[2] = {}, squares[2] = {}, product = 0.0;
  for (const auto& episode : play(environment, 3, 0, kEpisodes)) {
    const auto& step = episode.steps.front();
    double noise[2];
    for (std::size_t d = 0; d < 2; ++d) {
      noise[d] = static_cast<double>(episode.last.observation[2 + d]) / 0.99 -
                 0.1 * static_cast<double>(step.action[d]);
      sum[d] += noise[d] / kEpisodes;
      squares[d] += noise[d] * noise[d] / kEpisodes;
    }
    product += noise[0] * noise[1] / kEpisodes;
  }
  for (std::size_t d = 0; d < 2; ++d) {
    EXPECT_NEAR(sum[d], 0.0, 5.0 * 0.01 / std::sqrt(kEpisodes));
    EXPECT_NEAR(std::sqrt(squares[d]), 0.01, 0.0003);
  }
  EXPECT_NEAR(product, 0.0, 5.0 * 0.0001 / std::sqrt(kEpisodes));
}

TEST(PathFollowing, LastsTheWholeHorizonAndEndsByTimeoutOnly) {
  for (const std::int64_t horizon : {1, 100, 256})
    for (const auto& episode : play(PathFollowing({.horizon = horizon}), 4, 0, 20)) {
      EXPECT_EQ(static_cast<std::int64_t>(episode.steps.size()), horizon);
      EXPECT_EQ(episode.steps.back().ending, Ending::kTimeout);
    }
}

TEST(PathFollowing, RewardsByHand) {
  const auto at = [](PathReward reward, Point position) {
    return PathFollowing({.reward = reward}).reward_at(position);
  };
  using enum PathReward;
  EXPECT_DOUBLE_EQ(at(kFree, {1.0, 1.0}), 0.0);
  EXPECT_DOUBLE_EQ(at(kFree, {-1.0, 1.0}), -2.0);
  EXPECT_DOUBLE_EQ(at(kUpFirst, {-1.0, 1.0}), -2.0);
  EXPECT_DOUBLE_EQ(at(kRightFirst, {-1.0, 1.0}), -2.0 - 5.0 * 2.0);
  EXPECT_DOUBLE_EQ(at(kRightFirst, {1.0, -1.0}), -2.0);
  EXPECT_DOUBLE_EQ(at(kUpFirst, {1.0, 0.6}), -0.4 - 5.0 * 0.4);
  // Outside the circle: 5 from the origin is 3 beyond.
  EXPECT_DOUBLE_EQ(at(kFree, {4.0, -3.0}), -5.0 - 9.0);
  EXPECT_DOUBLE_EQ(at(kUpFirst, {4.0, -3.0}), -5.0 - 9.0 - 5.0 * 5.0);
  EXPECT_DOUBLE_EQ(at(kNone, {4.0, -3.0}), 0.0);
}

TEST(PathFollowing, StepsAreRewardedWhereTheyArrive) {
  for (const auto reward :
       {PathReward::kNone, PathReward::kFree, PathReward::kUpFirst, PathReward::kRightFirst}) {
    const PathFollowing environment({.reward = reward});
    Ride ride(environment);
    for (int t = 0; t < 10; ++t) {
      const float found = ride.push(0.6f, 0.2f);
      const auto seen = ride.seen();
      EXPECT_NEAR(
          found,
          environment.reward_at({static_cast<double>(seen[0]), static_cast<double>(seen[1])}),
          1e-4);
    }
  }
}

TEST(PathFollowing, ImpossibleOptionsAreErrors) {
  EXPECT_THROW(make_environment("path-following", {{"horizon", 257}}), InvalidArgument);
  EXPECT_THROW(make_environment("path-following", {{"noise", -0.1}}), InvalidArgument);
  EXPECT_THROW(make_environment("path-following", {{"damping", 1.1}}), InvalidArgument);
  EXPECT_THROW(make_environment("path-following", {{"reward", "down-first"}}), InvalidArgument);
}

}  // namespace
}  // namespace kindred
