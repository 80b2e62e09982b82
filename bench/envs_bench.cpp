// Environment steps per second: rule-based experts acting, recorded into Trajectories.
#include <benchmark/benchmark.h>

#include <numeric>

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
  options.workers = Workers(static_cast<int>(state.range(0)));
  std::int64_t steps = 0;
  for (auto _ : state) {
    const auto data = generate(*environment, options);
    benchmark::DoNotOptimize(data.actions.ints().data());
    steps += data.steps();
  }
  state.SetItemsProcessed(steps);
}

/// Lanes stepped by random actions and restarted when they end; with `observing`, also looked at
/// before each step, as a policy that reads observations does.
void step_lanes(benchmark::State& state, const std::string& name, bool observing) {
  const auto environment = make_environment(name);
  const auto& spec = environment->spec();
  constexpr std::size_t kLanes = 512;
  const auto lanes = environment->make_lanes(kLanes);
  std::vector<std::int32_t> all(kLanes), discrete(spec.is_discrete() ? kLanes : 0);
  const auto width = static_cast<std::size_t>(spec.action_width);
  std::vector<float> continuous(spec.is_discrete() ? 0 : kLanes * width);
  std::vector<float> observations(kLanes * static_cast<std::size_t>(spec.observation_dim()));
  std::vector<float> rewards(kLanes);
  std::vector<Ending> endings(kLanes, Ending::kTerminal);
  std::iota(all.begin(), all.end(), 0);
  const auto thread = static_cast<std::uint64_t>(state.thread_index());
  std::uint64_t episode = 0;
  Random random(thread, "actions");
  for (auto _ : state) {
    for (std::size_t i = 0; i < kLanes; ++i)
      if (endings[i] != Ending::kNone) lanes->reset(all[i], Random(thread, "bench", episode++));
    if (observing) lanes->observe(all, observations);
    benchmark::DoNotOptimize(observations.data());
    for (auto& action : discrete) action = static_cast<std::int32_t>(random.below(width));
    for (auto& number : continuous) number = static_cast<float>(random.uniform(-1.0, 1.0));
    lanes->step(all, {discrete, continuous}, rewards, endings);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kLanes));
}

void label_by_oracle(benchmark::State& state) {
  const auto environment = make_environment("diagonal");
  const auto experts = make_experts(*environment);
  const auto data = rollout(*environment, experts, {});
  for (auto _ : state)
    benchmark::DoNotOptimize(
        oracle_labels(data, *environment, experts, Workers(static_cast<int>(state.range(0)))));
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
BENCHMARK_CAPTURE(step_lanes, diagonal, "diagonal", false);
BENCHMARK_CAPTURE(step_lanes, takeball_permuted, "takeball-permuted", false);
BENCHMARK_CAPTURE(step_lanes, bandit, "bandit", false);
BENCHMARK_CAPTURE(step_lanes, extra, "extra", true)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK_CAPTURE(step_lanes, path_following, "path-following", true)
    ->ThreadRange(1, 2)
    ->UseRealTime();
BENCHMARK(label_by_oracle)->Apply(on_threads);

}  // namespace
}  // namespace kindred
