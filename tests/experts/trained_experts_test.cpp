// What makes each trained expert an expert, measured on episodes it was not trained on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kindred/envs/mujoco/locomotion.h"
#include "kindred/envs/path_following.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/oracle.h"
#include "kindred/experts/recipes.h"
#include "kindred/experts/rollout.h"
#include "tests/experts/extra_rates.h"
#include "tests/experts/shortest_path_walker.h"

namespace kindred {
namespace {

constexpr std::int64_t kSeed = 20'261'115;  // streams no training draws from

Trajectories roll_out(const Environment& environment, std::shared_ptr<const Policy> policy,
                      std::int64_t episodes) {
  return rollout(environment, {std::move(policy)}, {.per_expert = episodes, .seed = kSeed});
}

class ExtraExperts : public ::testing::Test {
 protected:
  ExtraRates rates(const std::string& expert) {
    return extra_rates(
        roll_out(*environment_, select_experts(make_experts(*environment_), expert).front(), 4000),
        /*label=*/0);
  }
  std::unique_ptr<Environment> environment_ = make_environment("extra");
};

TEST_F(ExtraExperts, AllReachTheGoal) {
  for (const auto* expert : {"plus", "minus", "zero"})
    EXPECT_GE(rates(expert).goal, 0.95) << expert;
}

TEST_F(ExtraExperts, PlusVisitsBothSpecialCells) { EXPECT_GE(rates("plus").both, 0.85); }

TEST_F(ExtraExperts, MinusTouchesNeither) { EXPECT_LE(rates("minus").any, 0.10); }

TEST_F(ExtraExperts, ZeroVisitsThemAsOftenAsAShortestPath) {
  const auto walker = extra_rates(
      roll_out(*environment_, std::make_shared<ShortestPathWalker>(), 4000), /*label=*/0);
  EXPECT_NEAR(rates("zero").any, walker.any, 0.04);
  EXPECT_NEAR(rates("zero").both, walker.both, 0.02);
}

/// How a route keeps to a path and to the goal, as means over episodes.
struct Route {
  double path_distance = 0.0;  ///< Between the approach and the arrival.
  double final_distance = 0.0;
};

Route follow(const Trajectories& data, std::span<const Point> path) {
  constexpr double kNear = 0.15, kArrived = 0.2;
  Route mean;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    double sum = 0.0, steps = 0.0, goal_distance = 0.0;
    bool approached = false, arrived = false;
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t) {
      const float* row = &data.observations.floats()[t * data.observations.dim()];
      const Point position = {static_cast<double>(row[0]), static_cast<double>(row[1])};
      const double distance = distance_to_polyline(position, path);
      goal_distance =
          std::hypot(position.x - PathFollowing::kGoal.x, position.y - PathFollowing::kGoal.y);
      approached = approached || distance < kNear;
      arrived = arrived || goal_distance < kArrived;
      if (approached && !arrived) sum += distance, steps += 1.0;
    }
    mean.path_distance += (steps > 0.0 ? sum / steps : 1.0) / static_cast<double>(data.episodes());
    mean.final_distance += goal_distance / static_cast<double>(data.episodes());
  }
  return mean;
}

class PathExperts : public ::testing::Test {
 protected:
  Trajectories data(const std::string& expert) {
    return roll_out(*environment_, select_experts(make_experts(*environment_), expert).front(),
                    500);
  }
  std::unique_ptr<Environment> environment_ = make_environment("path-following");
};

TEST_F(PathExperts, KeepToTheirOwnPathAndEndAtTheGoal) {
  const auto up = follow(data("up-first"), PathFollowing::kUpFirst);
  const auto right = follow(data("right-first"), PathFollowing::kRightFirst);
  EXPECT_LE(up.path_distance, 0.15);
  EXPECT_LE(right.path_distance, 0.15);
  EXPECT_LE(up.final_distance, 0.2);
  EXPECT_LE(right.final_distance, 0.2);
}

TEST_F(PathExperts, NoneKeepsToAnothersPath) {
  EXPECT_GT(follow(data("up-first"), PathFollowing::kRightFirst).path_distance, 0.3);
  EXPECT_GT(follow(data("right-first"), PathFollowing::kUpFirst).path_distance, 0.3);
}

TEST_F(PathExperts, FreeTakesTheStraightWay) {
  const auto free = data("free");
  constexpr Point straight[] = {{-1.0, -1.0}, {1.0, 1.0}};
  EXPECT_LE(follow(free, straight).final_distance, 0.2);
  // Starts lie up to 0.7 beside the line from corner to goal.
  EXPECT_LE(follow(free, straight).path_distance, 0.35);
  EXPECT_GT(follow(free, PathFollowing::kUpFirst).path_distance, 0.3);
  EXPECT_GT(follow(free, PathFollowing::kRightFirst).path_distance, 0.3);
}

double mean_return(const Trajectories& data) {
  double sum = 0.0;
  for (const double value : episode_returns(data)) sum += value;
  return sum / static_cast<double>(data.episodes());
}

class LocomotionExperts : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Tasks, LocomotionExperts,
                         ::testing::Values("hopper", "halfcheetah", "walker2d"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(LocomotionExperts, MediumIsAThirdToAHalfOfExpert) {
  if (!has_mujoco()) GTEST_SKIP() << "*** NOT TESTED: the experts, as this build has no MuJoCo";
  const auto environment = make_environment(GetParam());
  const auto experts = make_experts(*environment);
  ASSERT_EQ(experts.size(), 2u);
  const double medium = mean_return(roll_out(*environment, experts[0], 20));
  const double expert = mean_return(roll_out(*environment, experts[1], 20));
  EXPECT_GE(expert, 2500.0);
  EXPECT_GE(medium, expert / 3.0);
  EXPECT_LE(medium, expert / 2.0);
}

struct Strong {
  const char* task;
  double least;  // mean return of ten episodes
};

class StrongExperts : public ::testing::TestWithParam<Strong> {};
INSTANTIATE_TEST_SUITE_P(Tasks, StrongExperts,
                         ::testing::Values(Strong{"hopper", 2800.0}, Strong{"halfcheetah", 8000.0}),
                         [](const auto& tested) { return std::string(tested.param.task); });

TEST_P(StrongExperts, ReturnWhatPublicOnesDoAndMediumLessThanHalf) {
  if (!has_mujoco()) GTEST_SKIP() << "*** NOT TESTED: the experts, as this build has no MuJoCo";
  const auto environment = make_environment(GetParam().task);
  const auto experts = make_experts(*environment, "strong-medium,strong-expert");
  const double medium = mean_return(roll_out(*environment, experts[0], 10));
  const double expert = mean_return(roll_out(*environment, experts[1], 10));
  EXPECT_GE(expert, GetParam().least);
  EXPECT_GE(medium, expert / 3.0);
  EXPECT_LE(medium, expert / 2.0);
  const auto data = generate(*environment, experts, {.per_expert = 3, .seed = kSeed});
  EXPECT_TRUE(std::ranges::equal(data.oracle.span(), data.labels.span()));
}

class TrainedExperts : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Environments, TrainedExperts,
                         ::testing::Values("extra", "path-following", "hopper"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(TrainedExperts, AreRecognisedByTheOracle) {
  if (std::string_view(GetParam()) == "hopper" && !has_mujoco())
    GTEST_SKIP() << "*** NOT TESTED: the experts, as this build has no MuJoCo";
  const auto environment = make_environment(GetParam());
  const auto data = generate(*environment, {.per_expert = 20, .seed = kSeed});
  std::int64_t right = 0;
  for (std::int64_t i = 0; i < data.episodes(); ++i) right += data.oracle[i] == data.labels[i];
  // On Extra a short way to the goal is often the same for all three.
  const double share = std::string_view(GetParam()) == "extra" ? 0.6 : 0.95;
  EXPECT_GE(static_cast<double>(right), share * static_cast<double>(data.episodes()));
}

}  // namespace
}  // namespace kindred
