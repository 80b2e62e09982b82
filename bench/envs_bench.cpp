// Environment steps per second: rule-based experts acting, recorded into Trajectories.
#include <benchmark/benchmark.h>

#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/oracle.h"
#include "kindred/experts/rollout.h"

namespace kindred {
namespace {

/// Everything `kindred generate` does before writing: rollout, interning and the oracle.
void generate_dataset(benchmark::State& state, const std::string& name) {
  const auto environment = make_environment(name);
  GenerateOptions options;
  options.threads = static_cast<int>(state.range(0));
  std::int64_t steps = 0;
  for (auto _ : state) {
    const auto data = generate(*environment, options);
    benchmark::DoNotOptimize(data.actions.ints().data());
    steps += data.steps();
  }
  state.SetItemsProcessed(steps);
}

/// The bare environment: lanes stepped by random actions, restarted when they end.
void step_lanes(benchmark::State& state, const std::string& name) {
  const auto environment = make_environment(name);
  constexpr std::int32_t kLanes = 512;
  const auto lanes = environment->make_lanes(kLanes);
  std::vector<std::int32_t> all(kLanes), actions(kLanes);
  std::vector<float> rewards(kLanes);
  std::vector<Ending> endings(kLanes, Ending::kTerminal);
  std::uint64_t episode = 0;
  Random random(0, "actions");
  for (std::int32_t lane = 0; lane < kLanes; ++lane) all[static_cast<std::size_t>(lane)] = lane;
  for (auto _ : state) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (endings[i] != Ending::kNone) lanes->reset(all[i], Random(0, "bench", episode++));
    for (auto& action : actions)
      action = static_cast<std::int32_t>(
          random.below(static_cast<std::uint64_t>(environment->spec().action_width)));
    lanes->step(all, {actions, {}}, rewards, endings);
  }
  state.SetItemsProcessed(state.iterations() * kLanes);
}

void label_by_oracle(benchmark::State& state) {
  const auto environment = make_environment("diagonal");
  const auto experts = make_experts(*environment);
  const auto data = rollout(*environment, experts, {});
  for (auto _ : state)
    benchmark::DoNotOptimize(
        oracle_labels(data, *environment, experts, static_cast<int>(state.range(0))));
  state.SetItemsProcessed(state.iterations() * data.steps());
}

/// On one and on two threads; the CPU column is that of the whole process.
void on_threads(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);
  benchmark->MeasureProcessCPUTime()->UseRealTime();
}

BENCHMARK_CAPTURE(generate_dataset, diagonal, "diagonal")->Apply(on_threads);
BENCHMARK_CAPTURE(generate_dataset, takeball, "takeball")->Apply(on_threads);
BENCHMARK_CAPTURE(generate_dataset, takeball_permuted, "takeball-permuted")->Apply(on_threads);
BENCHMARK_CAPTURE(step_lanes, diagonal, "diagonal");
BENCHMARK_CAPTURE(step_lanes, takeball_permuted, "takeball-permuted");
BENCHMARK_CAPTURE(step_lanes, bandit, "bandit");
BENCHMARK(label_by_oracle)->Apply(on_threads);

}  // namespace
}  // namespace kindred
