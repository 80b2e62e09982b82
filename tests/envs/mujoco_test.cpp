// The locomotion tasks: their dimensions, rewards, endings, starts and physics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <thread>

#include "kindred/core/error.h"
#include "kindred/envs/registry.h"
#include "tests/envs/body.h"
#include "tests/envs/playing.h"

namespace kindred {
namespace {

INSTANTIATE_TEST_SUITE_P(Mujoco, LocomotionTest, kAllTasks, task_name);

struct Expected {
  std::int64_t observation_dim, action_width;
  double seconds;  // per step
  ReturnRange reference;
  double old_sum, native_sum;  // rewards of ten steps with every motor at 0.5
};

const std::map<std::string, Expected> kExpected = {
    {"hopper", {11, 3, 0.008, {-20.272305, 3234.3}, 11.233780684, 11.266396031}},
    {"halfcheetah", {17, 6, 0.05, {-280.178953, 12135.0}, 2.203739840, 2.288113476}},
    {"walker2d", {17, 6, 0.008, {1.629008, 4592.3}, 10.264095916, 10.474182272}},
    {"ant", {27, 8, 0.05, {-325.6, 3879.7}, -0.792944848, -0.787272369}},
};

TEST(Mujoco, WhereItIsMissingTheNamesSaySo) {
  for (const auto& [name, expected] : kExpected) {
    EXPECT_EQ(find_environment(name).available, has_mujoco());
    if (has_mujoco()) continue;
    try {
      make_environment(name);
      ADD_FAILURE() << name << " was made without MuJoCo";
    } catch (const InvalidArgument& error) {
      EXPECT_THAT(error.what(), ::testing::AllOf(::testing::HasSubstr(name),
                                                 ::testing::HasSubstr("libmujoco-dev")));
    }
  }
}

TEST_P(LocomotionTest, HasTheDimensionsOfItsTask) {
  const auto& expected = kExpected.at(GetParam());
  const auto environment = make_environment(GetParam());
  const auto& spec = environment->spec();
  EXPECT_EQ(spec.observation_dim(), expected.observation_dim);
  EXPECT_EQ(spec.action_kind, ActionKind::kContinuous);
  EXPECT_EQ(spec.action_width, expected.action_width);
  EXPECT_EQ(spec.horizon, 1000);
  EXPECT_FALSE(spec.has_states());
  ASSERT_TRUE(spec.reference_returns.has_value());
  EXPECT_EQ(spec.reference_returns->low, expected.reference.low);
  EXPECT_EQ(spec.reference_returns->high, expected.reference.high);
}

/// Rewards of ten steps from the position the model is drawn in, every motor at 0.5.
double sum_of_ten_rewards(Body body) {
  body.put(body.drawn_qpos());
  double sum = 0.0;
  for (int i = 0; i < 10; ++i) sum += body.step(0.5f).reward;
  return sum;
}

TEST_P(LocomotionTest, RewardsAreThoseOfGym) {
  const auto& expected = kExpected.at(GetParam());
  EXPECT_NEAR(sum_of_ten_rewards(Body(GetParam())), expected.old_sum, 1e-6);
  EXPECT_NEAR(sum_of_ten_rewards(Body(GetParam(), {.inertia = CapsuleInertia::kNative})),
              expected.native_sum, 1e-6);
}

TEST_P(LocomotionTest, HeavierEffortOfClippedActionsCostsNoMore) {
  Body one(GetParam()), five(GetParam());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(one.step(1.0f).reward, five.step(5.0f).reward);
    EXPECT_EQ(one.observation(), five.observation());
  }
}

TEST_P(LocomotionTest, RewardIsSpeedAndBonusMinusEffort) {
  Body body(GetParam());
  const auto& task = body.task();
  body.put(body.drawn_qpos());
  const double before = body.qpos()[0];
  const float reward = body.step(-0.25f).reward;
  const double speed = (body.qpos()[0] - before) / kExpected.at(GetParam()).seconds;
  const double effort = 0.0625 * static_cast<double>(body.environment().spec().action_width);
  // The Ant's progress is its torso's, known to less than a simulation step.
  EXPECT_NEAR(reward, speed + task.alive_reward - task.control_cost * effort,
              task.follows_torso ? 1e-3 : 1e-6);
}

TEST_P(LocomotionTest, RefusesActionsThatAreNotNumbers) {
  Body body(GetParam());
  const auto before = body.observation();
  EXPECT_THROW(body.step(std::numeric_limits<float>::quiet_NaN()), InvalidArgument);
  EXPECT_THROW(body.step(std::numeric_limits<float>::infinity()), InvalidArgument);
  EXPECT_EQ(body.observation(), before);
}

TEST_P(LocomotionTest, IsCutOffAtItsHorizon) {
  Body body(GetParam(), {.horizon = 3});
  body.put(body.drawn_qpos());
  EXPECT_EQ(body.step(0.0f).ending, Ending::kNone);
  EXPECT_EQ(body.step(0.0f).ending, Ending::kNone);
  EXPECT_EQ(body.step(0.0f).ending, Ending::kTimeout);
}

TEST_P(LocomotionTest, StartsWithinItsNoise) {
  Body body(GetParam());
  const auto drawn = body.drawn_qpos();
  const double noise = body.task().start_noise;
  double widest = 0.0, sum_of_squares = 0.0;
  constexpr int kStarts = 400;
  for (std::uint64_t i = 0; i < kStarts; ++i) {
    body.lanes().reset(0, Random(1, "start", i));
    // MuJoCo scales the Ant's quaternion (3..6) to length 1 after the noise.
    for (std::size_t d = 0; d < 3; ++d)
      widest = std::max(widest, std::abs(body.qpos()[d] - drawn[d]));
    for (const double speed : body.qvel()) {
      sum_of_squares += speed * speed;
      ASSERT_LE(std::abs(speed), body.task().normal_start_speed ? 6.0 * noise : noise);
    }
  }
  EXPECT_LE(widest, noise * (1.0 + 1e-12));
  EXPECT_GT(widest, 0.95 * noise);
  const double count = kStarts * static_cast<double>(body.qvel().size());
  const double deviation = body.task().normal_start_speed ? noise : noise / std::sqrt(3.0);
  EXPECT_NEAR(std::sqrt(sum_of_squares / count), deviation, 0.05 * deviation);
}

TEST_P(LocomotionTest, ObservesPositionsWithoutTheGroundThenVelocities) {
  Body body(GetParam());
  auto position = body.drawn_qpos();
  position[0] = 123.0;
  position.back() = -0.3;
  std::vector<double> velocity(body.qvel().size(), -0.5);
  velocity[0] = 40.0;
  body.put(position, velocity);
  std::vector<float> expected(position.begin() + (GetParam() == "ant" ? 2 : 1), position.end());
  expected.insert(expected.end(), velocity.begin(), velocity.end());
  const bool clips = GetParam() == "hopper" || GetParam() == "walker2d";
  if (clips) expected[position.size() - 1] = 10.0f;
  EXPECT_EQ(body.observation(), expected);
}

TEST_P(LocomotionTest, StateIsKeptExactly) {
  Body body(GetParam()), again(GetParam());
  for (int i = 0; i < 5; ++i) body.step(0.3f);
  const auto position = body.qpos(), velocity = body.qvel();
  again.put(position, velocity);
  // MuJoCo scales the Ant's quaternion to length 1 once more.
  EXPECT_THAT(again.qpos(), ::testing::Pointwise(::testing::DoubleNear(1e-15), position));
  EXPECT_EQ(again.qvel(), velocity);
  again.lanes().set_state(0, again.lanes().state(0));
  EXPECT_EQ(again.qvel(), velocity);
  again.step(0.1f);
  body.put(position, velocity);
  body.step(0.1f);
  EXPECT_EQ(body.qpos(), again.qpos());
  EXPECT_THROW(body.lanes().set_state(0, {velocity, {}}), InvalidArgument);
}

TEST_P(LocomotionTest, DivergedSimulationEndsTheEpisode) {
  for (const double absurd : {1e11, std::numeric_limits<double>::quiet_NaN()}) {
    Body body(GetParam());
    auto velocity = body.qvel();
    velocity.back() = absurd;
    body.put(body.drawn_qpos(), velocity);
    const auto result = body.step(0.0f);
    EXPECT_EQ(result.ending, Ending::kTerminal);
    EXPECT_EQ(result.reward, static_cast<float>(body.task().alive_reward));
    for (const float value : body.observation()) EXPECT_TRUE(std::isfinite(value));
    body.lanes().reset(0, Random(1));
    EXPECT_EQ(body.step(0.0f).ending, Ending::kNone);
  }
}

TEST_P(LocomotionTest, HasRoomForEveryContact) {
  Body body(GetParam());
  Random random(2, "poses");
  for (int i = 0; i < 500; ++i) {
    auto position = body.drawn_qpos();
    for (auto& coordinate : position) coordinate += random.uniform(-3.0, 3.0);
    position[GetParam() == "ant" ? 2 : 1] = random.uniform(-3.0, 0.0);  // in the ground
    body.put(position);
    EXPECT_NO_THROW(body.step(0.0f));
  }
}

/// In the air, no joint at its limit.
std::vector<double> relaxed_pose(const std::string& name) {
  if (name == "hopper") return {0, 1.6, 0.1, -0.6, -0.8, 0.2};
  if (name == "halfcheetah") return {0, 0.3, 0.1, 0.2, 0.3, -0.1, -0.2, 0.3, 0.2};
  if (name == "walker2d") return {0, 1.6, 0.1, -0.6, -0.8, 0.2, -0.3, -0.4, -0.1};
  return {0, 0, 1.0, 1, 0, 0, 0, 0.1, 0.9, -0.1, -0.9, 0.2, -0.8, -0.2, 0.8};
}

TEST_P(LocomotionTest, PassiveBodyGainsNoEnergy) {
  Body body(GetParam(), {.horizon = 100000});
  body.put(relaxed_pose(GetParam()));
  const double start = body.lanes().energy(0);
  double most = start;
  // The fall may end the episode, but not the motion: put the same state into a new one.
  for (int i = 0; i < 300; ++i) {
    if (body.step(0.0f).ending != Ending::kNone) body.put(body.qpos(), body.qvel());
    most = std::max(most, body.lanes().energy(0));
  }
  EXPECT_LE(most, start + 1e-3 * std::abs(start));
  EXPECT_LT(body.lanes().energy(0), start - 0.1 * std::abs(start));
}

TEST_P(LocomotionTest, LanesOfTwoThreadsShareNothing) {
  const auto environment = make_environment(GetParam(), {{"horizon", 60}});
  std::vector<PlayedEpisode> first, second;
  std::thread one([&] { first = play(*environment, 3, 0, 20); });
  std::thread two([&] { second = play(*environment, 3, 20, 20); });
  one.join();
  two.join();
  EXPECT_EQ(first, play(*environment, 3, 0, 20));
  EXPECT_EQ(second, play(*environment, 3, 20, 20));
}

TEST_P(LocomotionTest, InertiaIsAnOption) {
  const auto mass = [&](CapsuleInertia inertia) {
    const auto masses = Body(GetParam(), {.inertia = inertia}).environment().body_masses();
    return std::accumulate(masses.begin(), masses.end(), 0.0);
  };
  const double old_mass = mass(CapsuleInertia::kOld), native = mass(CapsuleInertia::kNative);
  if (GetParam() == "halfcheetah") {
    EXPECT_NEAR(old_mass, 14.0, 1e-12);
    EXPECT_NEAR(native, 14.0, 1e-12);
  } else {
    EXPECT_GT(native, 1.02 * old_mass);
  }
  EXPECT_EQ(make_environment(GetParam(), {{"inertia", "native"}})->options()["inertia"], "native");
  EXPECT_THROW(make_environment(GetParam(), {{"inertia", "new"}}), InvalidArgument);
}

class Hopper : public LocomotionTest {};
class Walker2d : public LocomotionTest {};
class Ant : public LocomotionTest {};
INSTANTIATE_TEST_SUITE_P(Mujoco, Hopper, ::testing::Values("hopper"), task_name);
INSTANTIATE_TEST_SUITE_P(Mujoco, Walker2d, ::testing::Values("walker2d"), task_name);
INSTANTIATE_TEST_SUITE_P(Mujoco, Ant, ::testing::Values("ant"), task_name);

/// How a step without torque ends, from rest in a pose with one coordinate moved.
StepResult after(Body& body, std::vector<double> pose, std::size_t coordinate, double value) {
  pose[coordinate] = value;
  body.put(pose);
  return body.step(0.0f);
}

TEST_P(Hopper, WeighsWhatItDidInD4rl) {
  EXPECT_THAT(Body("hopper").environment().body_masses(),
              ::testing::Pointwise(::testing::DoubleNear(1e-6),
                                   std::vector{3.534292, 3.926991, 2.714336, 5.089380}));
}

TEST_P(Hopper, EndsWhenItFallsTiltsOrFlies) {
  Body body("hopper");
  const auto drawn = body.drawn_qpos();
  EXPECT_EQ(after(body, drawn, 1, 0.72).ending, Ending::kNone);
  EXPECT_EQ(after(body, drawn, 1, 0.65).ending, Ending::kTerminal);
  for (const double side : {-1.0, 1.0}) {
    EXPECT_EQ(after(body, drawn, 2, 0.19 * side).ending, Ending::kNone);
    EXPECT_EQ(after(body, drawn, 2, 0.21 * side).ending, Ending::kTerminal);
  }
  EXPECT_EQ(after(body, drawn, 0, 1000.0).ending,
            Ending::kNone);  // how far it came does not matter
  std::vector<double> velocity(6, 0.0);
  velocity[0] = 150.0;
  body.put(drawn, velocity);
  EXPECT_EQ(body.step(0.0f).ending, Ending::kTerminal);
}

TEST_P(Walker2d, EndsWhenItFallsJumpsOrTilts) {
  Body body("walker2d");
  const auto drawn = body.drawn_qpos();
  EXPECT_EQ(after(body, drawn, 1, 0.85).ending, Ending::kNone);
  EXPECT_EQ(after(body, drawn, 1, 0.75).ending, Ending::kTerminal);
  EXPECT_EQ(after(body, drawn, 1, 1.98).ending, Ending::kNone);
  EXPECT_EQ(after(body, drawn, 1, 2.02).ending, Ending::kTerminal);
  for (const double side : {-1.0, 1.0}) {
    EXPECT_EQ(after(body, drawn, 2, 0.98 * side).ending, Ending::kNone);
    EXPECT_EQ(after(body, drawn, 2, 1.02 * side).ending, Ending::kTerminal);
  }
}

TEST_P(Ant, EndsWhenItSinksOrJumps) {
  Body body("ant");
  const auto pose = relaxed_pose("ant");
  EXPECT_EQ(after(body, pose, 2, 0.55).ending, Ending::kNone);
  EXPECT_EQ(after(body, pose, 2, 0.99).ending, Ending::kNone);
  EXPECT_EQ(after(body, pose, 2, 1.05).ending, Ending::kTerminal);
  auto on_its_back = pose;
  on_its_back[3] = 0.0;
  on_its_back[4] = 1.0;
  std::vector<double> velocity(14, 0.0);
  velocity[2] = -20.0;
  body.put(on_its_back, velocity);
  EXPECT_EQ(body.step(0.0f).ending, Ending::kTerminal);
  EXPECT_LT(body.qpos()[2], 0.2);
}

TEST_P(LocomotionTest, TheStepThatEndsTheEpisodePaysTheBonus) {
  if (GetParam() == "halfcheetah") return;  // it has none and never ends
  Body body(GetParam());
  auto pose = relaxed_pose(GetParam());
  pose[GetParam() == "ant" ? 2 : 1] = 5.0;    // far from the ground,
  if (GetParam() == "hopper") pose[2] = 0.5;  // which the hopper may be
  const auto result = after(body, pose, 0, 7.0);
  EXPECT_EQ(result.ending, Ending::kTerminal);
  EXPECT_NEAR(result.reward, 1.0, 1e-6);  // it fell from rest, without torque
}

TEST_P(Ant, SeesContactForcesOnRequest) {
  Body body("ant", {.contact_forces = true});
  ASSERT_EQ(body.environment().spec().observation_dim(), 111);
  const auto strongest = [&] {
    const auto seen = body.observation();
    float most = 0.0f;
    for (const float force : std::span(seen).subspan(27)) most = std::max(most, std::abs(force));
    return most;
  };
  body.put(relaxed_pose("ant"));
  body.step(0.0f);
  EXPECT_EQ(strongest(), 0.0f);  // nothing touches the ground yet
  for (int i = 0; i < 40; ++i) {
    body.step(0.0f);
    EXPECT_LE(strongest(), 1.0f);
  }
  EXPECT_GT(strongest(), 0.0f);
}

TEST_P(Hopper, HasNoContactForcesToSee) {
  EXPECT_THROW(make_environment("hopper", {{"contact-forces", true}}), InvalidArgument);
  EXPECT_THROW(Body("hopper", {.contact_forces = true}), InvalidArgument);
}

}  // namespace
}  // namespace kindred
