// Steps of the MuJoCo environments per second, beside MuJoCo alone doing the same simulation steps.
#include <benchmark/benchmark.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <ctime>
#include <numeric>

#include "kindred/envs/mujoco/model_internal.h"

namespace kindred {
namespace {

/// The same bodies twice: in lanes, and as MuJoCo's own data, driven alike.
class Twins {
 public:
  Twins(const std::string& name, std::int64_t count)
      : task_(find_locomotion_task(name)),
        environment_(make_locomotion(task_, {})),
        lanes_(environment_->make_locomotion_lanes(count)),
        model_(load_model(name, CapsuleInertia::kOld)),
        all_(static_cast<std::size_t>(count)),
        endings_(all_.size(), Ending::kTerminal),
        rewards_(all_.size()),
        actions_(all_.size() * static_cast<std::size_t>(model_->nu)),
        observations_(all_.size() *
                      static_cast<std::size_t>(environment_->spec().observation_dim())) {
    std::iota(all_.begin(), all_.end(), 0);
    for (std::size_t i = 0; i < all_.size(); ++i) bare_.push_back(mj_makeData(model_.get()));
  }
  ~Twins() {
    for (auto* body : bare_) mj_deleteData(body);
  }
  Twins(const Twins&) = delete;
  Twins& operator=(const Twins&) = delete;

  /// New actions, and new episodes where one has ended.
  void prepare() {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (endings_[i] != Ending::kNone) restart(i);
    for (auto& action : actions_) action = static_cast<float>(random_.uniform(-1.0, 1.0));
  }

  void step_lanes() {
    lanes_->step(all_, {{}, actions_}, rewards_, endings_);
    lanes_->observe(all_, observations_);
  }

  void step_bare() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto width = static_cast<std::size_t>(model_->nu);
      std::copy_n(actions_.begin() + static_cast<std::ptrdiff_t>(i * width), width, bare_[i]->ctrl);
      for (int frame = 0; frame < task_.frame_skip; ++frame) mj_step(model_.get(), bare_[i]);
    }
  }

 private:
  void restart(std::size_t i) {
    lanes_->reset(all_[i], Random(0, "bench", episode_++));
    const auto [qpos, qvel] = lanes_->state(all_[i]);
    mj_resetData(model_.get(), bare_[i]);
    std::ranges::copy(qpos, bare_[i]->qpos);
    std::ranges::copy(qvel, bare_[i]->qvel);
    mj_forward(model_.get(), bare_[i]);
  }

  const LocomotionTask& task_;
  std::unique_ptr<Locomotion> environment_;
  std::unique_ptr<LocomotionLanes> lanes_;
  ModelPtr model_;
  std::vector<mjData*> bare_;
  std::vector<std::int32_t> all_;
  std::vector<Ending> endings_;
  std::vector<float> rewards_, actions_, observations_;
  Random random_{0, "actions"};
  std::uint64_t episode_ = 0;
};

template <class Work>
double cpu_seconds(Work work) {
  const auto start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// The two are timed in turns, so that both meet the same machine.
void step_locomotion(benchmark::State& state, const std::string& name) {
  const auto count = state.range(0);
  Twins twins(name, count);
  double lanes = 0.0, bare = 0.0;
  for (auto _ : state) {
    twins.prepare();
    const double seconds = cpu_seconds([&] { twins.step_lanes(); });
    bare += cpu_seconds([&] { twins.step_bare(); });
    lanes += seconds;
    state.SetIterationTime(seconds);
  }
  const auto steps = static_cast<double>(state.iterations() * count);
  state.counters["steps/s"] = steps / lanes;
  state.counters["bare/s"] = steps / bare;
  state.counters["of_bare"] = bare / lanes;
}

void on_lanes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("lanes")->Arg(16)->Arg(256)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(step_locomotion, hopper, "hopper")->Apply(on_lanes);
BENCHMARK_CAPTURE(step_locomotion, halfcheetah, "halfcheetah")->Apply(on_lanes);
BENCHMARK_CAPTURE(step_locomotion, walker2d, "walker2d")->Apply(on_lanes);
BENCHMARK_CAPTURE(step_locomotion, ant, "ant")->Apply(on_lanes);

}  // namespace
}  // namespace kindred
