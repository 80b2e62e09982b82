#include "kindred/envs/mujoco/locomotion.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/envs/mujoco/model_internal.h"

namespace kindred {
namespace {

struct DataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};
using DataPtr = std::unique_ptr<mjData, DataDeleter>;

constexpr std::ptrdiff_t kTorso = 1;  // the first body after the world
constexpr double kSeenForce = 1.0;

std::span<const double> numbers(const double* first, int count) {
  return {first, static_cast<std::size_t>(count)};
}

class MujocoLanes final : public LocomotionLanes {
 public:
  MujocoLanes(std::int64_t count, const EnvironmentSpec& spec, const LocomotionTask& task,
              const LocomotionOptions& options, const mjModel& model)
      : LocomotionLanes(count, spec),
        task_(task),
        sees_contact_forces_(options.contact_forces),
        observation_dim_(static_cast<std::size_t>(spec.observation_dim())),
        model_(model) {
    for (std::int64_t lane = 0; lane < count; ++lane) lanes_.emplace_back(mj_makeData(&model));
  }

  void observe(LaneList lanes, std::span<float> out) const override {
    for (std::size_t i = 0; i < lanes.size(); ++i)
      observe_one(data(lanes[i]), out.subspan(i * observation_dim_, observation_dim_));
  }

  BodyState state(std::int32_t lane) const override { return state_of(data(lane)); }

  void set_state(std::int32_t lane, const BodyState& state) override {
    auto& body = data(lane);
    const auto [qpos, qvel] = state_of(body);
    if (state.qpos.size() != qpos.size() || state.qvel.size() != qvel.size())
      throw InvalidArgument("a state of {} is {} positions and {} velocities, not {} and {}",
                            task_.name, qpos.size(), qvel.size(), state.qpos.size(),
                            state.qvel.size());
    // Copied first: the state may be a lane's own, which the reset clears.
    const std::vector<double> position(state.qpos.begin(), state.qpos.end());
    const std::vector<double> velocity(state.qvel.begin(), state.qvel.end());
    mj_resetData(&model_, &body);
    std::ranges::copy(position, body.qpos);
    std::ranges::copy(velocity, body.qvel);
    mj_forward(&model_, &body);
  }

  bool near_failure(std::int32_t lane) const override {
    if (!task_.can_fail) return Lanes::near_failure(lane);
    // Where the torso is, carried on as it moves.
    constexpr double kSeconds = 0.1;
    constexpr std::size_t kTorsoCoordinates = 3;
    const auto [qpos, qvel] = state_of(data(lane));
    std::vector<double> soon(qpos.begin(), qpos.end());
    for (std::size_t i = 0; i < kTorsoCoordinates; ++i) soon[i] += kSeconds * qvel[i];
    return !task_.is_healthy({soon, qvel});
  }

  double energy(std::int32_t lane) const override {
    // Copies: lanes are stepped without energies, which take time, and between states.
    const ModelPtr model(mj_copyModel(nullptr, &model_));
    model->opt.enableflags |= mjENBL_ENERGY;
    const DataPtr body(mj_copyData(nullptr, model.get(), &data(lane)));
    mj_forward(model.get(), body.get());
    return body->energy[0] + body->energy[1];
  }

 protected:
  void start(std::int32_t lane) override {
    auto& random = stream(lane);
    const double noise = task_.start_noise;
    std::vector<double> qpos(model_.qpos0, model_.qpos0 + model_.nq);
    std::vector<double> qvel(static_cast<std::size_t>(model_.nv));
    for (auto& position : qpos) position += random.uniform(-noise, noise);
    for (auto& velocity : qvel)
      velocity = task_.normal_start_speed ? noise * random.normal() : random.uniform(-noise, noise);
    set_state(lane, {qpos, qvel});
  }

  void advance(LaneList lanes, const ActionView& actions, std::span<float> rewards,
               std::span<Ending> endings) override {
    if (!std::ranges::all_of(actions.continuous, [](float a) { return std::isfinite(a); }))
      throw InvalidArgument("an action for {} is not a finite number", task_.name);
    const auto width = static_cast<std::size_t>(model_.nu);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      auto& body = data(lanes[i]);
      rewards[i] = static_cast<float>(move(body, actions.continuous.subspan(i * width, width)));
      const bool goes_on = !has_diverged(body) && task_.is_healthy(state_of(body));
      endings[i] = goes_on ? Ending::kNone : Ending::kTerminal;
    }
  }

 private:
  mjData& data(std::int32_t lane) const { return *lanes_[static_cast<std::size_t>(lane)]; }

  BodyState state_of(const mjData& body) const {
    return {numbers(body.qpos, model_.nq), numbers(body.qvel, model_.nv)};
  }

  double progress(const mjData& body) const {
    return task_.follows_torso ? body.xpos[3 * kTorso] : body.qpos[0];
  }

  /// One step of the environment; returns its reward.
  double move(mjData& body, std::span<const float> action) const {
    double effort = 0.0;
    for (std::size_t i = 0; i < action.size(); ++i) {
      const double torque = std::clamp(static_cast<double>(action[i]), -1.0, 1.0);
      body.ctrl[i] = torque;
      effort += torque * torque;
    }
    const double before = progress(body);
    for (int frame = 0; frame < task_.frame_skip; ++frame) mj_step(&model_, &body);
    // MuJoCo leaves these forces out of a step.
    if (sees_contact_forces_) mj_rnePostConstraint(&model_, &body);
    const double seconds = task_.frame_skip * model_.opt.timestep;
    const double speed = has_diverged(body) ? 0.0 : (progress(body) - before) / seconds;
    return speed + task_.alive_reward - task_.control_cost * effort;
  }

  /// MuJoCo answers numbers that are no longer finite by starting over, and counts it.
  static bool has_diverged(const mjData& body) {
    return body.warning[mjWARN_BADQPOS].number + body.warning[mjWARN_BADQVEL].number +
               body.warning[mjWARN_BADQACC].number >
           0;
  }

  void observe_one(const mjData& body, std::span<float> out) const {
    auto next = out.begin();
    const auto see = [&](std::span<const double> values, double limit) {
      for (const double value : values)
        *next++ = static_cast<float>(std::clamp(value, -limit, limit));
    };
    const auto [qpos, qvel] = state_of(body);
    see(qpos.subspan(task_.unseen), std::numeric_limits<double>::infinity());
    see(qvel, task_.seen_speed);
    if (sees_contact_forces_) see(numbers(body.cfrc_ext, 6 * model_.nbody), kSeenForce);
  }

  const LocomotionTask& task_;
  bool sees_contact_forces_;
  std::size_t observation_dim_;
  const mjModel& model_;
  std::vector<DataPtr> lanes_;
};

EnvironmentSpec spec_of(const LocomotionTask& task, const LocomotionOptions& options,
                        const mjModel& model) {
  const auto body = model.nq - static_cast<int>(task.unseen) + model.nv;
  const auto forces = options.contact_forces ? 6 * model.nbody : 0;
  return {.name = task.name,
          .summary = task.summary,
          .observation_shape = {body + forces},
          .action_kind = ActionKind::kContinuous,
          .action_width = model.nu,
          .action_names = {},
          .horizon = options.horizon,
          .states = 0,
          .reference_returns = task.reference_returns,
          .clips_actions = true};
}

class MujocoLocomotion final : public Locomotion {
 public:
  MujocoLocomotion(const LocomotionTask& task, LocomotionOptions options, ModelPtr model)
      : Locomotion(spec_of(task, options, *model), to_json(options.describe(task))),
        task_(task),
        options_(options),
        model_(std::move(model)) {}

  std::unique_ptr<LocomotionLanes> make_locomotion_lanes(std::int64_t count) const override {
    return std::make_unique<MujocoLanes>(count, spec(), task_, options_, *model_);
  }

  std::vector<double> body_masses() const override {
    return {model_->body_mass + kTorso, model_->body_mass + model_->nbody};
  }

 private:
  const LocomotionTask& task_;
  LocomotionOptions options_;
  ModelPtr model_;
};

std::unique_ptr<Locomotion> make_by_mujoco(const LocomotionTask& task, LocomotionOptions options) {
  options = checked(options, task);
  if (options.contact_forces && !task.has_contact_forces)
    throw InvalidArgument("environment '{}' has no contact forces to observe", task.name);
  return std::make_unique<MujocoLocomotion>(task, options, load_model(task.name, options.inertia));
}

const LateFunctionIs is_make_locomotion(make_locomotion, &make_by_mujoco);

}  // namespace
}  // namespace kindred
