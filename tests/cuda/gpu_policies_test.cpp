// The kernels against LibTorch on the CPU: the same policies, the same draws.
#include "kindred/cuda/gpu_policies.h"

#include <ATen/ATen.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "kindred/nn/tensor_adam.h"
#include "kindred/nn/tensor_stack.h"

namespace kindred::cuda {
namespace {

struct Case {
  const char* name;
  PolicyArchitecture architecture;
};

void PrintTo(const Case& shown, std::ostream* out) { *out << shown.name; }

/// What a half keeps of numbers, with the gradient of the numbers themselves.
at::Tensor as_half(const at::Tensor& x) {
  return x + (x.to(at::kHalf).to(at::kFloat) - x).detach();
}

class GpuPoliciesOf : public ::testing::TestWithParam<Case> {};

/// Episodes of random steps, in both memories.
class Episodes {
 public:
  static constexpr std::int64_t kLength = 37, kCount = 60;

  explicit Episodes(const PolicyArchitecture& architecture, double scale = 1.0)
      : architecture_(architecture) {
    at::manual_seed(1);
    inputs = scale * at::randn({steps(), architecture.inputs});
    actions = architecture.discrete
                  ? at::randint(0, architecture.actions, {steps()}, at::kLong)
                  : 0.5 * at::randn({steps(), architecture.actions}) + inputs.slice(1, 0, 1).tanh();
    for (std::int64_t i = 0; i <= kCount; ++i) offsets.push_back(i * kLength);
  }

  static std::int64_t steps() { return kLength * kCount; }

  std::unique_ptr<GpuPolicies> on_gpu() const {
    const auto x = inputs.to(at::kCUDA).contiguous(), a = actions.to(at::kCUDA).contiguous();
    return make_gpu_policies(architecture_,
                             {.count = steps(),
                              .inputs = x.data_ptr<float>(),
                              .row_of_step = nullptr,
                              .actions = a.data_ptr()},
                             offsets);
  }

  /// Two policies learn from every second episode each.
  static std::vector<Lesson> lessons() {
    std::vector<Lesson> result(2);
    for (std::int64_t i = 0; i < kCount; ++i)
      result[static_cast<std::size_t>(i % 2)].parts.push_back({i * kLength, kLength});
    result[0].stream = 11;
    result[1].stream = 12;
    return result;
  }

  /// What both draw for a training step: [policies, batch].
  static at::Tensor drawn_steps(int step, int batch) {
    auto result = at::empty({2, batch}, at::kLong);
    auto* next = result.data_ptr<std::int64_t>();
    for (const auto& lesson : lessons())
      for (int row = 0; row < batch; ++row) {
        const auto count = static_cast<std::uint32_t>(std::ssize(lesson.parts) * kLength);
        const std::int64_t n = drawn(lesson.stream, static_cast<std::uint32_t>(step),
                                     static_cast<std::uint32_t>(row), count);
        *next++ = lesson.parts[static_cast<std::size_t>(n / kLength)].begin + n % kLength;
      }
    return result;
  }

  /// LibTorch's losses of both policies on such steps.
  at::Tensor losses(const TensorStack& stack, const at::Tensor& drawn) const {
    const auto flat = drawn.flatten();
    auto shape = drawn.sizes().vec();
    if (!architecture_.discrete) shape.push_back(architecture_.actions);
    return -stack
                .log_probs(inputs.index_select(0, flat).view({2, -1, architecture_.inputs}),
                           actions.index_select(0, flat).view(shape))
                .mean(1);
  }

  /// The same where numbers that are multiplied are halves, as in the kernels.
  at::Tensor losses_of_halves(const TensorStack& stack, const at::Tensor& drawn) const {
    const auto flat = drawn.flatten();
    const auto& p = stack.parameters();
    const auto x = inputs.index_select(0, flat).view({2, -1, architecture_.inputs});
    const auto first = as_half(x).bmm(as_half(p[0])) + as_half(p[1]).view({2, 1, -1});
    const auto second = as_half(first.relu()).bmm(as_half(p[2])) + p[3].view({2, 1, -1});
    const auto above = as_half(second.relu());
    const auto head = [&](std::size_t i) {
      return above.bmm(as_half(p[i])) + p[i + 1].view({2, 1, -1});
    };
    if (architecture_.discrete)
      return -head(4)
                  .log_softmax(2)
                  .gather(2, actions.index_select(0, flat).view({2, -1, 1}))
                  .mean({1, 2});
    const auto deviation = at::softplus(head(6)) + 1e-5;
    const auto wanted = actions.index_select(0, flat).view({2, -1, architecture_.actions});
    const auto z = (wanted - head(4)) / deviation;
    return (0.5 * z * z + deviation.log() + 0.5 * std::log(2.0 * M_PI)).sum(2).mean(1);
  }

  at::Tensor inputs, actions;
  std::vector<std::int64_t> offsets;

 private:
  PolicyArchitecture architecture_;
};

PolicyStack random_policies(const PolicyArchitecture& architecture) {
  PolicyStack stack(architecture, 2);
  for (std::int64_t i = 0; i < 2; ++i)
    stack.initialise(i, Random(5, "policy", static_cast<std::uint64_t>(i)));
  return stack;
}

bool no_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) != cudaSuccess || count == 0;
}

#define SKIP_WITHOUT_GPU() \
  if (no_gpu()) GTEST_SKIP() << "there is no GPU"

/// With epsilon and rate 1 the first step goes by g / (|g| + 1), from which g follows. Bounds are
/// relative.
void expect_gradients(const PolicyStack& before, const PolicyStack& after, const TensorStack& stack,
                      const std::vector<TrainEnd>& ends, const at::Tensor& losses,
                      double loss_bound, double gradient_bound) {
  const auto expected = torch::autograd::grad({losses.sum()}, stack.parameters());
  for (std::int64_t p = 0; p < 2; ++p) {
    EXPECT_EQ(ends[static_cast<std::size_t>(p)].steps, 1);
    const double loss = losses[p].item<double>();
    EXPECT_NEAR(ends[static_cast<std::size_t>(p)].loss, loss, loss_bound * std::abs(loss));
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double error = 0.0, size = 0.0;
    for (std::int64_t n = 0; n < expected[i].numel(); ++n) {
      const auto at = static_cast<std::size_t>(n);
      const double step = static_cast<double>(before.parameters()[i].values[at]) -
                          static_cast<double>(after.parameters()[i].values[at]);
      const double found = step / (1.0 - std::abs(step));
      const double wanted = static_cast<double>(expected[i].data_ptr<float>()[n]);
      error += (found - wanted) * (found - wanted);
      size += wanted * wanted;
    }
    EXPECT_LT(std::sqrt(error), gradient_bound * std::sqrt(size) + 1e-6) << "parameter " << i;
  }
}

TEST_P(GpuPoliciesOf, GradientsAreLibTorchs) {
  SKIP_WITHOUT_GPU();
  const auto& architecture = GetParam().architecture;
  const Episodes episodes(architecture);
  const auto gpu = episodes.on_gpu();
  ASSERT_NE(gpu, nullptr);
  // One block in one pass; several, unevenly; several passes.
  for (const int batch : {5, 128, 500, 3001, 20000}) {
    SCOPED_TRACE(batch);
    const auto before = random_policies(architecture);
    auto after = before;
    const auto lessons = Episodes::lessons();
    const auto ends = gpu->train(after, lessons,
                                 {.batch = batch,
                                  .learning_rate = 1.0F,
                                  .epsilon = 1.0F,
                                  .max_gradient_norm = 1e9F,
                                  .max_steps = 1});
    const TensorStack stack(before, at::kCPU);
    for (auto parameter : stack.parameters()) parameter.set_requires_grad(true);
    const auto drawn = Episodes::drawn_steps(0, batch);
    // Of gradients the kernels know less than of losses: bfloat16 makes about 0.4%.
    expect_gradients(before, after, stack, ends, episodes.losses_of_halves(stack, drawn), 1e-4,
                     batch < 100 ? 4e-2 : 8e-3);
    // Of very few steps' units one may be that close to its kink that it is active here and not
    // in floats.
    if (batch >= 100)
      expect_gradients(before, after, stack, ends, episodes.losses(stack, drawn), 1e-3, 5e-2);
  }
}

TEST_P(GpuPoliciesOf, ManyStepsEndWhereLibTorchs) {
  SKIP_WITHOUT_GPU();
  const auto& architecture = GetParam().architecture;
  const Episodes episodes(architecture);
  auto by_kernels = random_policies(architecture);
  constexpr int kSteps = 60, kBatch = 512;
  const auto ends =
      episodes.on_gpu()->train(by_kernels, Episodes::lessons(),
                               {.batch = kBatch, .max_steps = kSteps, .plateau_steps = kSteps});
  const TensorStack stack(random_policies(architecture), at::kCPU);
  TensorAdam adam(stack.parameters(), 2);
  at::Tensor sum = at::zeros({2});
  for (int step = 0; step < kSteps; ++step) {
    const auto losses = episodes.losses(stack, Episodes::drawn_steps(step, kBatch));
    sum += losses.detach();
    adam.differentiate(losses.sum());
    adam.update({});
  }
  const auto test = at::arange(Episodes::steps()).view({1, -1}).expand({2, -1}).contiguous();
  const auto expected = episodes.losses(stack, test);
  const auto found = episodes.losses(TensorStack(by_kernels, at::kCPU), test);
  for (std::int64_t p = 0; p < 2; ++p) {
    const double mean = sum[p].item<double>() / kSteps;
    EXPECT_NEAR(ends[static_cast<std::size_t>(p)].loss, mean, 1e-3 * (1.0 + std::abs(mean)));
    EXPECT_NEAR(found[p].item<double>(), expected[p].item<double>(), 5e-3);
  }
}

TEST_P(GpuPoliciesOf, ScoresAreLibTorchs) {
  SKIP_WITHOUT_GPU();
  const auto& architecture = GetParam().architecture;
  const Episodes episodes(architecture);
  const auto policies = random_policies(architecture);
  const TensorStack stack(policies, at::kCPU);
  const auto of_steps = stack.log_probs(episodes.inputs, episodes.actions);
  const auto common = -5.0 + at::randn({Episodes::steps()});
  const auto common_on_gpu = common.to(at::kCUDA);
  const auto gpu = episodes.on_gpu();
  for (const bool mixed : {false, true}) {
    const auto scores =
        gpu->score(policies, {.common = mixed ? common_on_gpu.data_ptr<float>() : nullptr,
                              .common_share = mixed ? 0.05 : 0.0,
                              .floor = mixed ? -std::numeric_limits<double>::infinity() : -3.0});
    ASSERT_TRUE(scores);
    const auto bounded = mixed ? at::logaddexp(of_steps + std::log(0.95), common + std::log(0.05))
                               : of_steps.clamp_min(-3.0);
    const auto expected =
        bounded.to(at::kDouble).view({2, Episodes::kCount, Episodes::kLength}).sum(2);
    for (std::int64_t e = 0; e < Episodes::kCount; ++e)
      for (std::int64_t p = 0; p < 2; ++p)
        EXPECT_NEAR((*scores)[static_cast<std::size_t>(2 * e + p)], expected[p][e].item<double>(),
                    0.002 * Episodes::kLength);
  }
}

TEST_P(GpuPoliciesOf, TrainTheSameWayTwice) {
  SKIP_WITHOUT_GPU();
  const auto& architecture = GetParam().architecture;
  const auto gpu = Episodes(architecture).on_gpu();
  const auto trained = [&] {
    auto policies = random_policies(architecture);
    gpu->train(policies, Episodes::lessons(), {.batch = 700, .max_steps = 50});
    return policies;
  };
  const auto once = trained(), again = trained();
  for (std::size_t i = 0; i < once.parameters().size(); ++i)
    EXPECT_EQ(once.parameters()[i].values, again.parameters()[i].values);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GpuPoliciesOf,
                         ::testing::Values(Case{"Hopper", {11, false, 3, {128, 128}}},
                                           Case{"Walker", {17, false, 6, {128, 128}}},
                                           Case{"Ant", {27, false, 8, {128, 128}}},
                                           Case{"Wide", {45, false, 8, {128, 100}}},
                                           Case{"ManyNumbers", {20, false, 14, {128, 128}}},
                                           Case{"Arms", {70, false, 14, {128, 128}}},
                                           Case{"AntOfD4rl", {111, false, 8, {128, 128}}},
                                           Case{"Narrow", {3, false, 1, {20, 64}}},
                                           Case{"NarrowAndWide", {60, false, 16, {64, 64}}},
                                           Case{"Choices", {15, true, 6, {128, 128}}},
                                           Case{"ManyChoices", {18, true, 30, {128, 128}}},
                                           Case{"WideChoices", {40, true, 2, {100, 128}}},
                                           Case{"WiderChoices", {100, true, 4, {128, 128}}},
                                           Case{"FewChoices", {4, true, 3, {32, 32}}}),
                         [](const auto& tested) { return std::string(tested.param.name); });

const PolicyArchitecture kHopper{11, false, 3, {128, 128}};

TEST(GpuPolicies, StopWhereTheLossStopsFalling) {
  SKIP_WITHOUT_GPU();
  const auto gpu = Episodes(kHopper).on_gpu();
  const auto steps = [&](const TrainSettings& settings) {
    auto policies = random_policies(kHopper);
    return gpu->train(policies, Episodes::lessons(), settings)[0].steps;
  };
  EXPECT_EQ(steps({.plateau_steps = 7, .plateau_tolerance = 1e6}), 14);
  EXPECT_EQ(steps({.max_steps = 40, .plateau_steps = 7, .plateau_tolerance = -1e6}), 40);
  EXPECT_EQ(steps({.max_steps = 5}), 5);
  const auto settled = steps({.max_steps = 5000, .plateau_steps = 30});
  EXPECT_EQ(settled % 30, 0);
  EXPECT_LT(settled, 5000);
}

TEST(GpuPolicies, ShortenLongGradients) {
  SKIP_WITHOUT_GPU();
  const Episodes episodes(kHopper);
  const auto before = random_policies(kHopper);
  auto after = before;
  episodes.on_gpu()->train(
      after, Episodes::lessons(),
      {.learning_rate = 1.0F, .epsilon = 1e3F, .max_gradient_norm = 0.01F, .max_steps = 1});
  double norm = 0.0;
  for (std::size_t i = 0; i < before.parameters().size(); ++i)
    for (std::size_t n = 0; n < before.parameters()[i].of(0).size(); ++n)
      norm += std::pow(1e3 * static_cast<double>(before.parameters()[i].of(0)[n] -
                                                 after.parameters()[i].of(0)[n]),
                       2);
  EXPECT_NEAR(std::sqrt(norm), 0.01, 0.001);
}

TEST(GpuPolicies, SayWhereTrainingDiverged) {
  SKIP_WITHOUT_GPU();
  Episodes episodes(kHopper);
  episodes.actions[5][0] = std::numeric_limits<float>::quiet_NaN();
  auto policies = random_policies(kHopper);
  const auto ends = episodes.on_gpu()->train(policies, Episodes::lessons(), {.batch = 20000});
  EXPECT_FALSE(std::isfinite(ends[0].loss));
  EXPECT_EQ(ends[0].steps, 30);
}

TEST(GpuPolicies, SayThatNumbersAreTooLargeForHalves) {
  SKIP_WITHOUT_GPU();
  auto policies = random_policies(kHopper);
  EXPECT_TRUE(Episodes(kHopper, 1e3).on_gpu()->score(policies, {.floor = -1e30}));
  const auto gpu = Episodes(kHopper, 1e6).on_gpu();
  EXPECT_FALSE(gpu->score(policies, {.floor = -1e30}));
  EXPECT_FALSE(std::isfinite(gpu->train(policies, Episodes::lessons(), {})[0].loss));
}

TEST(GpuPolicies, AreThereOnlyForShapesThatHaveKernels) {
  SKIP_WITHOUT_GPU();
  const PolicyArchitecture deep{11, false, 3, {128, 128, 128}};
  EXPECT_EQ(Episodes(deep).on_gpu(), nullptr);
}

TEST(GpuPolicies, TrainMorePoliciesThanFitAtOnce) {
  SKIP_WITHOUT_GPU();
  const auto gpu = Episodes(kHopper).on_gpu();
  constexpr std::int64_t kMany = 301;
  PolicyStack many(kHopper, kMany);
  auto lessons = std::vector<Lesson>(kMany, Episodes::lessons()[0]);
  for (std::int64_t i = 0; i < kMany; ++i) many.initialise(i, Random(5, "policy"));
  gpu->train(many, lessons, {.batch = 100, .max_steps = 20});
  for (const auto& parameter : many.parameters())
    for (std::int64_t i = 1; i < kMany; ++i)
      ASSERT_TRUE(std::ranges::equal(parameter.of(0), parameter.of(i)));
}

}  // namespace
}  // namespace kindred::cuda
