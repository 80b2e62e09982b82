// Training and scoring by the kernels of kindred/cuda.
#include "kindred/cuda/gpu_policies.h"

#include <ATen/ATen.h>

#include "policies.h"
#include "rows.h"

namespace bench {
namespace {

/// The data in the GPU's memory, and kernels over it; none where they cannot run.
std::unique_ptr<cuda::GpuPolicies> kernels_for(const Policies& task) {
  if (!at::hasCUDA()) return nullptr;
  const auto on_gpu = [](std::span<const float> values, std::int64_t width) {
    const auto rows = std::ssize(values) / width;
    return at::from_blob(const_cast<float*>(values.data()), {rows, width}, at::kFloat)
        .to(at::kCUDA);
  };
  const auto inputs = on_gpu(task.data.observations.floats().span(), kInputs);
  const auto actions = on_gpu(task.data.actions.floats().span(), kActions);
  return cuda::make_gpu_policies(task.start.architecture(),
                                 {.count = task.problem.steps,
                                  .inputs = inputs.data_ptr<float>(),
                                  .row_of_step = nullptr,
                                  .actions = actions.data_ptr()},
                                 task.data.offsets.span());
}

void say_absent() { say({{"who", "Kindred"}, {"absent", "no kernels for this GPU, or no GPU"}}); }

}  // namespace

/// Batches are drawn on the GPU while it trains.
void time_gpu_m_step(const Settings& settings) {
  const Workers workers(settings.threads);
  const Policies task(settings.problem);
  const auto gpu = kernels_for(task);
  if (!gpu) return say_absent();
  const auto& p = task.problem;
  std::vector<cuda::Lesson> lessons(static_cast<std::size_t>(p.policies));
  for (std::int64_t e = 0; e < p.episodes(); ++e) {
    auto& lesson = lessons[static_cast<std::size_t>(e % p.policies)];
    lesson.parts.push_back({e * p.length, p.length});
    lesson.stream = static_cast<std::uint64_t>(e % p.policies);
  }
  const cuda::TrainSettings training{.batch = static_cast<int>(p.batch),
                                     .max_steps = static_cast<int>(p.updates),
                                     .plateau_steps = static_cast<int>(p.updates)};
  auto about = task.about_training();
  about["batches"] = "own";
  const double before = task.likelihood(task.start, workers);
  settings.turns.take(about, [&] {
    auto stack = task.start;
    auto line = timed([&] { gpu->train(stack, lessons, training); });
    line["before"] = before;
    line["after"] = task.likelihood(stack, workers);
    return line;
  });
}

void time_gpu_e_step(const Settings& settings) {
  const Policies task(settings.problem);
  const auto gpu = kernels_for(task);
  if (!gpu) return say_absent();
  settings.turns.take(task.about_scoring(), [&] {
    std::optional<std::vector<double>> scores;
    auto line = timed([&] { scores = gpu->score(task.start, {.floor = -1e30}); });
    double sum = 0.0;
    for (const double score : scores.value()) sum += score;
    line["after"] = sum / static_cast<double>(task.problem.steps * task.problem.policies);
    return line;
  });
}

}  // namespace bench
