// One training step of one policy: the fused kernel against LibTorch's stack on one thread, and the
// matrix product below it against the BLAS LibTorch uses. Compare the rows with each other within
// one run; the flop rates say how far each is from the machine.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <vector>

#include "kindred/core/random.h"
#include "kindred/nn/cpu_policy.h"
#include "kindred/nn/gemm.h"
#include "kindred/nn/policy_stack.h"
#include "kindred/nn/tensor_adam.h"
#include "kindred/nn/tensor_stack.h"

namespace {

using namespace kindred;

std::vector<float> random_values(std::int64_t n) {
  Random random(1);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (auto& x : values) x = static_cast<float>(random.normal());
  return values;
}

at::Tensor view(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
}

void count_flops(benchmark::State& state, double flops) {
  state.counters["flop/s"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
}

/// Arguments: rows, columns, depth.
void product_own(benchmark::State& state) {
  const auto m = state.range(0), n = state.range(1), k = state.range(2);
  const auto a = random_values(m * k), b = random_values(k * n);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  for (auto _ : state) {
    gemm(m, n, k, {a.data(), k, 1}, b.data(), c.data(), false);
    benchmark::DoNotOptimize(c.data());
  }
  count_flops(state, 2.0 * static_cast<double>(m * n * k));
}

void product_blas(benchmark::State& state) {
  at::set_num_threads(1);
  const auto m = state.range(0), n = state.range(1), k = state.range(2);
  const auto a = random_values(m * k), b = random_values(k * n);
  auto c = at::empty({m, n});
  for (auto _ : state) {
    at::mm_out(c, view(a, {m, k}), view(b, {k, n}));
    benchmark::DoNotOptimize(c.data_ptr<float>());
  }
  count_flops(state, 2.0 * static_cast<double>(m * n * k));
}

/// Arguments: steps in the batch, inputs, action numbers. Continuous policies, hidden 128, 128.
struct Problem {
  explicit Problem(const benchmark::State& state)
      : batch(state.range(0)),
        architecture{.inputs = state.range(1), .discrete = false, .actions = state.range(2)},
        inputs(random_values(batch * architecture.inputs)),
        actions(random_values(batch * architecture.actions)),
        weights(static_cast<std::size_t>(batch), 1.0F / static_cast<float>(batch)),
        stack(architecture, 1) {
    stack.initialise(0, Random(2));
  }

  double flops() const {
    const auto weights_of_one = (architecture.inputs + 128 + 2 * architecture.actions) * 128;
    return 6.0 * static_cast<double>(batch * weights_of_one);
  }

  std::int64_t batch;
  PolicyArchitecture architecture;
  std::vector<float> inputs, actions, weights;
  PolicyStack stack;
};

void training_step_fused(benchmark::State& state) {
  Problem p(state);
  CpuPolicy policy(p.architecture);
  policy.load(p.stack, 0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(policy.gradient_on_actions(p.inputs, p.actions, p.weights));
    policy.update({});
  }
  count_flops(state, p.flops());
}

void training_step_libtorch(benchmark::State& state) {
  at::set_num_threads(1);
  Problem p(state);
  const TensorStack stack(p.stack, at::kCPU);
  TensorAdam adam(stack.parameters(), stack.size());
  const auto inputs = view(p.inputs, {p.batch, p.architecture.inputs});
  const auto actions = view(p.actions, {p.batch, p.architecture.actions});
  for (auto _ : state) {
    adam.differentiate(-stack.log_probs(inputs, actions).mean());
    adam.update({});
  }
  count_flops(state, p.flops());
}

BENCHMARK(product_own)->Args({48, 128, 81})->Args({512, 128, 128});
BENCHMARK(product_blas)->Args({48, 128, 81})->Args({512, 128, 128});
BENCHMARK(training_step_fused)->Args({48, 81, 5})->Args({512, 17, 6});
BENCHMARK(training_step_libtorch)->Args({48, 81, 5})->Args({512, 17, 6});

}  // namespace
