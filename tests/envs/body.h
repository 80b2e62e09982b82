// One lane of a locomotion task: what the MuJoCo tests push around.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kindred/envs/mujoco/locomotion.h"

namespace kindred {

/// Tests that need MuJoCo, one per task.
class LocomotionTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!has_mujoco())
      GTEST_SKIP() << "*** NOT TESTED: this build has no MuJoCo; install libmujoco-dev and "
                      "libtinyxml2-dev and configure again ***";
  }
};

inline const auto kAllTasks = ::testing::Values("hopper", "halfcheetah", "walker2d", "ant");

inline std::string task_name(const ::testing::TestParamInfo<std::string>& tested) {
  return tested.param;
}

struct StepResult {
  float reward = 0.0f;
  Ending ending = Ending::kNone;
};

class Body {
 public:
  explicit Body(const std::string& name, LocomotionOptions options = {})
      : task_(find_locomotion_task(name)), environment_(make_locomotion(task_, options)) {
    lanes_->reset(0, Random(0, "body"));
  }

  const LocomotionTask& task() const { return task_; }
  const Locomotion& environment() const { return *environment_; }
  LocomotionLanes& lanes() { return *lanes_; }

  std::vector<double> qpos() const {
    return {lanes_->state(0).qpos.begin(), lanes_->state(0).qpos.end()};
  }
  std::vector<double> qvel() const {
    return {lanes_->state(0).qvel.begin(), lanes_->state(0).qvel.end()};
  }

  /// Upright as the model is drawn.
  std::vector<double> drawn_qpos() const {
    std::vector<double> drawn(qpos().size(), 0.0);
    if (environment_->spec().name == "ant") {
      drawn[2] = 0.75;
      drawn[3] = 1.0;  // the unit quaternion
    } else if (environment_->spec().name != "halfcheetah") {
      drawn[1] = 1.25;
    }
    return drawn;
  }

  /// At rest in this position, in a new episode.
  void put(const std::vector<double>& position) {
    put(position, std::vector<double>(qvel().size(), 0.0));
  }
  void put(const std::vector<double>& position, const std::vector<double>& velocity) {
    lanes_->reset(0, Random(0, "body"));
    lanes_->set_state(0, {position, velocity});
  }

  StepResult step(std::span<const float> action) {
    StepResult result;
    lanes_->step({&kLane, 1}, {{}, action}, {&result.reward, 1}, {&result.ending, 1});
    return result;
  }
  /// The same torque on every motor.
  StepResult step(float torque) {
    return step(
        std::vector<float>(static_cast<std::size_t>(environment_->spec().action_width), torque));
  }

  std::vector<float> observation() const {
    std::vector<float> seen(static_cast<std::size_t>(environment_->spec().observation_dim()));
    lanes_->observe({&kLane, 1}, seen);
    return seen;
  }

 private:
  static constexpr std::int32_t kLane = 0;
  const LocomotionTask& task_;
  std::unique_ptr<Locomotion> environment_;
  std::unique_ptr<LocomotionLanes> lanes_ = environment_->make_locomotion_lanes(1);
};

}  // namespace kindred
