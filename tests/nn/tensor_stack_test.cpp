#include "kindred/nn/tensor_stack.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kindred/nn/tensor_adam.h"

namespace kindred {
namespace {

PolicyStack random_stack(const PolicyArchitecture& architecture, std::int64_t size) {
  PolicyStack stack(architecture, size);
  for (std::int64_t i = 0; i < size; ++i)
    stack.initialise(i, Random(5, "policy", static_cast<std::uint64_t>(i)));
  return stack;
}

at::Tensor random_tensor(std::vector<std::int64_t> shape, std::uint64_t seed) {
  auto tensor = at::empty(shape, at::kFloat);
  Random random(seed);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data_ptr<float>()[i] = static_cast<float>(random.normal());
  return tensor;
}

/// One policy on one input, written out in double: what the stack must compute.
std::vector<double> outputs_by_hand(const PolicyStack& stack, std::int64_t policy,
                                    const at::Tensor& input, std::size_t head) {
  const auto affine = [&](const std::vector<double>& x, std::size_t layer) {
    const auto& weight = stack.parameters()[2 * layer];
    std::vector<double> y;
    for (const float bias : stack.parameters()[2 * layer + 1].of(policy)) {
      double sum = bias;
      for (std::size_t i = 0; i < x.size(); ++i)
        sum += x[i] * static_cast<double>(weight.of(
                          policy)[i * static_cast<std::size_t>(weight.columns) + y.size()]);
      y.push_back(sum);
    }
    return y;
  };
  std::vector<double> x;
  for (std::int64_t i = 0; i < input.size(0); ++i) x.push_back(input[i].item<double>());
  for (std::size_t layer = 0; layer < stack.architecture().hidden.size(); ++layer) {
    x = affine(x, layer);
    for (auto& value : x) value = std::max(value, 0.0);
  }
  return affine(x, stack.architecture().hidden.size() + head);
}

constexpr std::int64_t kPolicies = 3;
constexpr std::int64_t kBatch = 4;

TEST(TensorStack, CategoricalLogProbsMatchTheFormula) {
  const auto stack =
      random_stack({.inputs = 5, .discrete = true, .actions = 3, .hidden = {7, 6}}, kPolicies);
  const auto inputs = random_tensor({kBatch, 5}, 1);
  const auto all = TensorStack(stack, at::kCPU).all_log_probs(inputs);
  for (std::int64_t p = 0; p < kPolicies; ++p)
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const auto logits = outputs_by_hand(stack, p, inputs[b], 0);
      double total = 0.0;
      for (const double logit : logits) total += std::exp(logit);
      for (std::int64_t a = 0; a < 3; ++a)
        EXPECT_NEAR(all[p][b][a].item<double>(),
                    logits[static_cast<std::size_t>(a)] - std::log(total), 1e-5);
    }
  const auto actions = at::tensor({0, 2, 1, 1}, at::kLong);
  const auto chosen = TensorStack(stack, at::kCPU).log_probs(inputs, actions);
  for (std::int64_t b = 0; b < kBatch; ++b)
    EXPECT_EQ(chosen[1][b].item<float>(), all[1][b][actions[b].item<std::int64_t>()].item<float>());
}

TEST(TensorStack, GaussianLogDensityMatchesTheFormula) {
  const auto stack =
      random_stack({.inputs = 4, .discrete = false, .actions = 2, .hidden = {8}}, kPolicies);
  const auto inputs = random_tensor({kBatch, 4}, 2);
  const auto actions = random_tensor({kBatch, 2}, 3);
  const auto log_probs = TensorStack(stack, at::kCPU).log_probs(inputs, actions);
  for (std::int64_t p = 0; p < kPolicies; ++p)
    for (std::int64_t b = 0; b < kBatch; ++b) {
      const auto mean = outputs_by_hand(stack, p, inputs[b], 0);
      const auto raw = outputs_by_hand(stack, p, inputs[b], 1);
      double expected = 0.0;
      for (std::size_t d = 0; d < 2; ++d) {
        const double deviation = std::log1p(std::exp(raw[d])) + 1e-5;
        const double z =
            (actions[b][static_cast<std::int64_t>(d)].item<double>() - mean[d]) / deviation;
        expected -= 0.5 * z * z + std::log(deviation) + 0.5 * std::log(2.0 * M_PI);
      }
      EXPECT_NEAR(log_probs[p][b].item<double>(), expected, 1e-4);
    }
}

TEST(TensorStack, SharedAndOwnInputsAgree) {
  const TensorStack stack(random_stack({.inputs = 5, .discrete = true, .actions = 3}, kPolicies),
                          at::kCPU);
  const auto inputs = random_tensor({kBatch, 5}, 4);
  const auto repeated = inputs.unsqueeze(0).repeat({kPolicies, 1, 1});
  EXPECT_TRUE(at::allclose(stack.all_log_probs(inputs), stack.all_log_probs(repeated), 1e-5, 1e-6));
}

TEST(TensorStack, ComesBackAsItWas) {
  const auto stack = random_stack({.inputs = 5, .discrete = false, .actions = 3}, kPolicies);
  PolicyStack back(stack.architecture(), kPolicies);
  TensorStack(stack, at::kCPU).store(back);
  for (std::size_t i = 0; i < stack.parameters().size(); ++i)
    EXPECT_EQ(back.parameters()[i].values, stack.parameters()[i].values);
}

TEST(TensorStack, TrainingTogetherEqualsTrainingAlone) {
  const PolicyArchitecture architecture{
      .inputs = 5, .discrete = true, .actions = 3, .hidden = {16}};
  const auto inputs = random_tensor({kPolicies, kBatch, 5}, 7);
  const auto actions =
      at::tensor({0, 1, 2, 1, 1, 1, 0, 2, 2, 0, 1, 0}, at::kLong).view({kPolicies, kBatch});
  const auto train = [&](PolicyStack policies, const at::Tensor& x, const at::Tensor& a) {
    const TensorStack stack(policies, at::kCPU);
    TensorAdam adam(stack.parameters(), stack.size());
    for (int i = 0; i < 20; ++i) {
      adam.differentiate(-stack.log_probs(x, a).mean(1).sum());
      adam.update({.learning_rate = 0.01});
    }
    stack.store(policies);
    return policies;
  };
  const auto together = train(random_stack(architecture, kPolicies), inputs, actions);
  for (std::int64_t p = 0; p < kPolicies; ++p) {
    const std::vector<std::int64_t> only = {p};
    const auto alone = train(random_stack(architecture, kPolicies).select(only),
                             inputs.slice(0, p, p + 1), actions.slice(0, p, p + 1));
    for (std::size_t i = 0; i < alone.parameters().size(); ++i)
      for (std::int64_t n = 0; n < alone.parameters()[i].count(); ++n) {
        const auto at = static_cast<std::size_t>(n);
        const float expected = together.parameters()[i].of(p)[at];
        EXPECT_NEAR(alone.parameters()[i].of(0)[at], expected, 1e-6 + 1e-4 * std::abs(expected));
      }
  }
}

}  // namespace
}  // namespace kindred
