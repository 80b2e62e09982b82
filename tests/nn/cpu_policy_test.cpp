// The fused kernel computes what LibTorch computes: probabilities, losses, and training step by
// step.
#include "kindred/nn/cpu_policy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numbers>

#include "kindred/core/error.h"
#include "kindred/nn/tensor_adam.h"
#include "kindred/nn/tensor_stack.h"

namespace kindred {
namespace {

constexpr std::int64_t kBatch = 37;

PolicyStack random_stack(const PolicyArchitecture& architecture) {
  PolicyStack stack(architecture, 2);
  for (std::int64_t i = 0; i < 2; ++i)
    stack.initialise(i, Random(5, "policy", static_cast<std::uint64_t>(i)));
  return stack;
}

std::vector<float> random_values(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (auto& x : values) x = static_cast<float>(random.normal());
  return values;
}

at::Tensor view(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat);
}

void expect_close(const at::Tensor& a, const at::Tensor& b, double tolerance) {
  EXPECT_LT((a - b).norm().item<double>(), tolerance * (1e-6 + b.norm().item<double>()));
}

class CpuPolicyParity : public ::testing::TestWithParam<std::vector<std::int64_t>> {};

TEST_P(CpuPolicyParity, Discrete) {
  const PolicyArchitecture architecture{
      .inputs = 11, .discrete = true, .actions = 5, .hidden = GetParam()};
  auto stack = random_stack(architecture);
  const auto inputs = random_values(kBatch * 11, 1);
  auto weights = random_values(kBatch * 5, 2);
  for (auto& w : weights) w = std::abs(w) / 100.0F;

  CpuPolicy policy(architecture);
  policy.load(stack, 1);
  std::vector<float> log_probs(kBatch * 5);
  policy.all_log_probs(inputs, log_probs);
  const std::vector<std::int64_t> second = {1};
  const TensorStack reference(stack.select(second), at::kCPU);
  expect_close(view(log_probs, {kBatch, 5}), reference.all_log_probs(view(inputs, {kBatch, 11}))[0],
               1e-5);
  std::vector<float> probabilities(kBatch * 5);
  policy.distribution(inputs, probabilities);
  expect_close(view(probabilities, {kBatch, 5}).log(), view(log_probs, {kBatch, 5}), 1e-5);

  const AdamOptions options{.learning_rate = 0.01};
  TensorAdam adam(reference.parameters(), reference.size());
  for (int step = 0; step < 25; ++step) {
    const auto loss =
        -(view(weights, {1, kBatch, 5}) * reference.all_log_probs(view(inputs, {kBatch, 11})))
             .sum();
    const double own = policy.gradient_on_weights(inputs, weights);
    policy.update(options);
    EXPECT_NEAR(own, loss.item<double>(), 1e-3 * std::abs(own)) << "step " << step;
    adam.differentiate(loss);
    adam.update(options);
  }
  policy.store(stack, 1);
  for (std::size_t i = 0; i < stack.parameters().size(); ++i)
    expect_close(TensorStack(stack, at::kCPU).parameters()[i][1],
                 reference.parameters()[i][0].detach(), 2e-3);
}

TEST_P(CpuPolicyParity, Continuous) {
  const PolicyArchitecture architecture{
      .inputs = 7, .discrete = false, .actions = 3, .hidden = GetParam()};
  auto stack = random_stack(architecture);
  const auto inputs = random_values(kBatch * 7, 1);
  const auto actions = random_values(kBatch * 3, 2);
  const std::vector<float> weights(kBatch, 1.0F / kBatch);

  CpuPolicy policy(architecture);
  policy.load(stack, 0);
  std::vector<float> densities(kBatch);
  policy.log_densities(inputs, actions, densities);
  const std::vector<std::int64_t> first = {0};
  const TensorStack reference(stack.select(first), at::kCPU);
  const auto log_probs = [&] {
    return reference.log_probs(view(inputs, {kBatch, 7}), view(actions, {kBatch, 3}));
  };
  expect_close(view(densities, {kBatch}), log_probs()[0], 1e-5);
  std::vector<float> gaussians(kBatch * 2 * 3);
  policy.distribution(inputs, gaussians);
  const auto gaussian = view(gaussians, {kBatch, 2, 3});
  const auto deviation = gaussian.select(1, 1);
  const auto scaled = (view(actions, {kBatch, 3}) - gaussian.select(1, 0)) / deviation;
  const auto normalised =
      0.5 * scaled.square() + deviation.log() + 0.5 * std::log(2.0 * std::numbers::pi);
  expect_close(-normalised.sum(1), log_probs()[0], 1e-5);

  const AdamOptions options{.learning_rate = 0.01};
  TensorAdam adam(reference.parameters(), reference.size());
  for (int step = 0; step < 25; ++step) {
    const auto loss = -log_probs().mean();
    const double own = policy.gradient_on_actions(inputs, actions, weights);
    policy.update(options);
    EXPECT_NEAR(own, loss.item<double>(), 1e-3 * std::abs(own)) << "step " << step;
    adam.differentiate(loss);
    adam.update(options);
  }
  policy.store(stack, 0);
  for (std::size_t i = 0; i < stack.parameters().size(); ++i)
    expect_close(TensorStack(stack, at::kCPU).parameters()[i][0],
                 reference.parameters()[i][0].detach(), 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Architectures, CpuPolicyParity,
                         ::testing::Values(std::vector<std::int64_t>{128, 128},
                                           std::vector<std::int64_t>{20},
                                           std::vector<std::int64_t>{33, 7, 16}),
                         [](const auto& architecture) {
                           return "Layers" + std::to_string(architecture.param.size());
                         });

TEST(CpuPolicy, BatchesOfChangingSizeDoNotLeakIntoEachOther) {
  const PolicyArchitecture architecture{.inputs = 3, .discrete = true, .actions = 2, .hidden = {8}};
  const auto stack = random_stack(architecture);
  CpuPolicy policy(architecture);
  policy.load(stack, 0);
  const auto inputs = random_values(30, 4);
  std::vector<float> all(20), few(4), again(20);
  policy.all_log_probs(inputs, all);
  policy.all_log_probs(std::span(inputs).first(6), few);
  policy.all_log_probs(inputs, again);
  EXPECT_EQ(all, again);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
}

TEST(CpuPolicy, TrainingContinuesElsewhereToTheSameBits) {
  const PolicyArchitecture architecture{.inputs = 3, .discrete = true, .actions = 2, .hidden = {8}};
  auto stack = random_stack(architecture);
  const auto inputs = random_values(30, 4);
  const std::vector<float> weights(20, 0.05F);
  CpuPolicy first(architecture), second(architecture);
  first.load(stack, 0);
  const auto train = [&](CpuPolicy& policy) {
    const double loss = policy.gradient_on_weights(inputs, weights);
    policy.update({});
    return loss;
  };
  for (int step = 0; step < 5; ++step) train(first);
  second.resume(first.training());
  for (int step = 0; step < 5; ++step) EXPECT_EQ(train(first), train(second));
  EXPECT_EQ(first.training().parameters, second.training().parameters);
  EXPECT_THROW(CpuPolicy({.inputs = 4, .actions = 2, .hidden = {8}}).resume(first.training()),
               InvalidArgument);
}

/// What two processes do that share a batch and add their gradients before the step.
TEST(CpuPolicy, GradientsOfPartsAddUpToThatOfTheWhole) {
  const PolicyArchitecture architecture{
      .inputs = 3, .discrete = false, .actions = 2, .hidden = {8}};
  const auto stack = random_stack(architecture);
  const auto inputs = random_values(30, 4);
  const auto actions = random_values(20, 5);
  const std::vector<float> weights(10, 0.1F);
  CpuPolicy whole(architecture), part(architecture), other(architecture);
  for (auto* policy : {&whole, &part, &other}) policy->load(stack, 0);
  const double loss = whole.gradient_on_actions(inputs, actions, weights);
  const auto take = [&](CpuPolicy& policy, std::size_t begin, std::size_t count) {
    return policy.gradient_on_actions(std::span(inputs).subspan(begin * 3, count * 3),
                                      std::span(actions).subspan(begin * 2, count * 2),
                                      std::span(weights).first(count));
  };
  EXPECT_NEAR(take(part, 0, 4) + take(other, 4, 6), loss, 1e-6);
  for (std::size_t i = 0; i < part.gradient().size(); ++i)
    part.gradient()[i] += other.gradient()[i];
  for (std::size_t i = 0; i < part.gradient().size(); ++i)
    EXPECT_NEAR(part.gradient()[i], whole.gradient()[i], 1e-6F);

  const auto before = whole.training().parameters;
  EXPECT_EQ(part.training().parameters, before);  // a gradient alone moves nothing
  part.gradient_on_actions(inputs, actions, weights);
  for (auto* policy : {&whole, &part}) policy->update({});
  EXPECT_NE(whole.training().parameters, before);
  EXPECT_EQ(part.training().parameters, whole.training().parameters);
}

}  // namespace
}  // namespace kindred
