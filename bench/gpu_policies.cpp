// Networks on a GPU: the kernels of kindred/cuda against the same steps through LibTorch, one
// operation at a time. Compare the columns within one run. Prints a table; needs a GPU.
//
//   build/<preset>/bench/gpu_policies_bench [steps of data, 2000000 unless told]
#include "kindred/cuda/gpu_policies.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "kindred/nn/tensor_adam.h"
#include "kindred/nn/tensor_stack.h"

namespace {

using namespace kindred;

constexpr std::int64_t kEpisode = 1000;
const PolicyArchitecture kArchitecture{
    .inputs = 17, .discrete = false, .actions = 6, .hidden = {128, 128}};

/// The least time of some calls, in seconds, the first of which does not count.
template <class Work>
double least_time(int calls, const Work& work) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= calls; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i > 0) least = std::min(least, taken.count());
  }
  return least;
}

PolicyStack random_policies(std::int64_t count) {
  PolicyStack stack(kArchitecture, count);
  for (std::int64_t i = 0; i < count; ++i)
    stack.initialise(i, Random(1, "policy", static_cast<std::uint64_t>(i)));
  return stack;
}

/// Two policies' steps in turn, episode by episode.
struct Data {
  explicit Data(std::int64_t count)
      : steps(count / kEpisode * kEpisode),
        inputs(at::randn({steps, kArchitecture.inputs}, at::kCUDA)) {
    const auto weights =
        0.5 * at::randn({2, kArchitecture.inputs, kArchitecture.actions}, at::kCUDA);
    const auto first = at::matmul(inputs, weights[0]).tanh();
    const auto second = at::matmul(inputs, weights[1]).tanh();
    const auto whose = at::arange(steps, at::kCUDA).div(kEpisode, "floor").remainder(2);
    actions = at::where(whose.unsqueeze(1) == 0, first, second) + 0.1 * at::randn_like(first);
    for (std::int64_t t = 0; t <= steps; t += kEpisode) offsets.push_back(t);
  }

  std::vector<cuda::Lesson> lessons(std::int64_t policies) const {
    std::vector<cuda::Lesson> result(static_cast<std::size_t>(policies));
    for (std::int64_t t = 0; t < steps; t += kEpisode) {
      const auto episode = t / kEpisode;
      auto& lesson = result[static_cast<std::size_t>(episode % policies)];
      lesson.parts.push_back({t, kEpisode});
      lesson.stream = static_cast<std::uint64_t>(episode % policies);
    }
    return result;
  }

  std::int64_t steps;
  at::Tensor inputs, actions;
  std::vector<std::int64_t> offsets;
};

/// Trained steps per second, in millions: by kernels, and through LibTorch with batches that are
/// drawn on the GPU and a loss that is not read back.
void train(cuda::GpuPolicies& gpu, const Data& data, std::int64_t policies, int batch, int steps) {
  const auto lessons = data.lessons(policies);
  float loss = 0.0F;
  const auto untrained = random_policies(policies);
  const double by_kernels = least_time(3, [&] {
    auto stack = untrained;
    loss = gpu.train(stack, lessons,
                     {.batch = batch,
                      .max_steps = steps,
                      .plateau_steps = 20,
                      .plateau_tolerance = -1e9})[0]
               .loss;
  });
  const int fewer = std::max(5, steps / 20);
  const double by_torch = least_time(1, [&] {
    const TensorStack stack(untrained, at::kCUDA);
    TensorAdam adam(stack.parameters(), policies);
    for (int i = 0; i < fewer; ++i) {
      const auto rows = at::randint(data.steps, {policies * batch}, at::kCUDA).to(at::kLong);
      const auto x = data.inputs.index_select(0, rows).view({policies, batch, -1});
      const auto a = data.actions.index_select(0, rows).view({policies, batch, -1});
      adam.differentiate(-stack.log_probs(x, a).mean(1).sum());
      adam.update({});
    }
    stack.parameters()[0].detach().cpu();
  });
  const auto rate = [&](double seconds, int taken) {
    return static_cast<double>(policies) * batch * taken / seconds / 1e6;
  };
  fmt::print("M-step {:2} x {:<5}  {:8.1f} M/s  {:8.1f} M/s  {:6.1f} x   loss {:.3f} after {}\n",
             policies, batch, rate(by_kernels, steps), rate(by_torch, fewer),
             rate(by_kernels, steps) / rate(by_torch, fewer), loss, steps);
}

void score(cuda::GpuPolicies& gpu, const Data& data, std::int64_t policies) {
  const auto stack = random_policies(policies);
  const double by_kernels = least_time(3, [&] { gpu.score(stack, {.floor = -1e30}); });
  const double by_torch = least_time(1, [&] {
    const c10::NoGradGuard no_grad;
    const TensorStack tensors(stack, at::kCUDA);
    constexpr std::int64_t kBlock = 100 * kEpisode;
    for (std::int64_t begin = 0; begin < data.steps; begin += kBlock) {
      const auto end = std::min(begin + kBlock, data.steps);
      tensors.log_probs(data.inputs.slice(0, begin, end), data.actions.slice(0, begin, end))
          .view({policies, -1, kEpisode})
          .sum(2)
          .cpu();
    }
  });
  const auto rate = [&](double seconds) {
    return static_cast<double>(policies * data.steps) / seconds / 1e6;
  };
  fmt::print("E-step {:2} policies  {:6.0f} M/s  {:8.0f} M/s  {:6.1f} x\n", policies,
             rate(by_kernels), rate(by_torch), rate(by_kernels) / rate(by_torch));
}

}  // namespace

int main(int count, char** words) {
  const Data data(count > 1 ? std::stoll(words[1]) : 2000000);
  const auto gpu = cuda::make_gpu_policies(kArchitecture,
                                           {.count = data.steps,
                                            .inputs = data.inputs.data_ptr<float>(),
                                            .row_of_step = nullptr,
                                            .actions = data.actions.data_ptr()},
                                           data.offsets);
  if (!gpu) {
    fmt::print("no kernels for this GPU\n");
    return 2;
  }
  fmt::print("17 inputs, 6 actions, 128-128        kernels      LibTorch    ratio\n");
  train(*gpu, data, 20, 512, 1000);
  train(*gpu, data, 4, 512, 1000);
  train(*gpu, data, 20, 8192, 200);
  train(*gpu, data, 4, 64000, 100);
  score(*gpu, data, 20);
}
