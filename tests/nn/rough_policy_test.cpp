// Policies in whole numbers say about what the same policies say in floats, whatever their shape
// and however large their numbers are.
#include "kindred/nn/rough_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/nn/cpu_policy.h"

namespace kindred {
namespace {

using Numerals = RoughPolicy::Numerals;

#define SKIP_UNLESS_POSSIBLE(architecture)     \
  if (!RoughPolicy::is_possible(architecture)) \
  GTEST_SKIP() << "*** NOT TESTED: this processor has no VNNI"

PolicyStack random_stack(const PolicyArchitecture& architecture) {
  PolicyStack stack(architecture, 2);
  for (std::int64_t i = 0; i < 2; ++i)
    stack.initialise(i, Random(3, "policy", static_cast<std::uint64_t>(i)));
  return stack;
}

std::vector<float> random_inputs(std::int64_t steps, std::int64_t width) {
  Random random(4, "inputs");
  std::vector<float> inputs(static_cast<std::size_t>(steps * width));
  for (auto& x : inputs) x = static_cast<float>(random.normal());
  return inputs;
}

/// What the heads say: [steps, outputs].
std::vector<float> outputs_of(const RoughPolicy& policy, std::span<const float> inputs,
                              std::int64_t width, std::int64_t outputs) {
  RoughPolicy::Buffers buffers;
  RoughPolicy::Numbers numbers;
  const auto steps = static_cast<std::int64_t>(inputs.size()) / width;
  std::vector<float> result;
  for (std::int64_t begin = 0; begin < steps; begin += kSideBySide) {
    const auto n = std::min(kSideBySide, steps - begin);
    RoughPolicy::read(inputs.subspan(static_cast<std::size_t>(begin * width),
                                     static_cast<std::size_t>(n * width)),
                      width, buffers, numbers);
    const float* said = policy.forward(numbers, buffers);
    for (std::int64_t s = 0; s < n; ++s)
      for (std::int64_t o = 0; o < outputs; ++o) result.push_back(said[o * kSideBySide + s]);
  }
  return result;
}

/// How far means are off, as a share of how much they vary.
double error_of(const PolicyStack& stack, std::span<const float> inputs, Numerals numerals) {
  const auto& architecture = stack.architecture();
  const auto width = static_cast<std::size_t>(architecture.actions);
  const auto rough = outputs_of(RoughPolicy(stack, 1, numerals), inputs, architecture.inputs,
                                2 * architecture.actions);
  CpuPolicy policy(architecture);
  policy.load(stack, 1);
  std::vector<float> exact(rough.size());  // [steps, 2, actions]
  policy.distribution(inputs, exact);
  double off = 0.0, sum = 0.0, squares = 0.0, count = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (i % (2 * width) >= width) continue;
    const auto mean = static_cast<double>(exact[i]);
    off += std::pow(static_cast<double>(rough[i]) - mean, 2);
    sum += mean;
    squares += mean * mean;
    ++count;
  }
  return std::sqrt(off / (squares - sum * sum / count));
}

TEST(RoughPolicy, SaysWhatFloatsSay) {
  for (const std::int64_t inputs : {1, 4, 17, 40})
    for (const auto& hidden : std::vector<std::vector<std::int64_t>>{
             {128, 128}, {7}, {30, 17, 50}, {22, 13, 19}, {64, 256}})
      for (const std::int64_t actions : {1, 6, 7}) {
        const PolicyArchitecture architecture{
            .inputs = inputs, .discrete = false, .actions = actions, .hidden = hidden};
        SKIP_UNLESS_POSSIBLE(architecture);
        const auto stack = random_stack(architecture);
        const auto steps = random_inputs(200, inputs);
        EXPECT_LT(error_of(stack, steps, Numerals::kShorts), 2e-3)
            << inputs << " inputs, first layer " << hidden[0] << ", " << actions << " actions";
        EXPECT_LT(error_of(stack, steps, Numerals::kBytes), 5e-2)
            << inputs << " inputs, first layer " << hidden[0] << ", " << actions << " actions";
      }
}

/// A unit with small weights and a large bias, and one that is always off.
TEST(RoughPolicy, KeepsUnitsOfDifferentSizesApart) {
  const PolicyArchitecture architecture{.inputs = 5, .discrete = false, .actions = 2};
  SKIP_UNLESS_POSSIBLE(architecture);
  auto stack = random_stack(architecture);
  for (const std::size_t layer : {0U, 1U}) {
    auto& weight = stack.parameters()[2 * layer];
    for (std::int64_t i = 0; i < weight.rows; ++i) {
      weight.of(1)[static_cast<std::size_t>(i * weight.columns)] *= 1e-4F;
      weight.of(1)[static_cast<std::size_t>(i * weight.columns + 1)] = 0.0F;
    }
    auto bias = stack.parameters()[2 * layer + 1].of(1);
    bias[0] = 0.3F;
    bias[1] = -1.0F;
  }
  const auto steps = random_inputs(200, 5);
  EXPECT_LT(error_of(stack, steps, Numerals::kShorts), 2e-3);
  EXPECT_LT(error_of(stack, steps, Numerals::kBytes), 5e-2);
}

/// Sums are largest where all inputs and all weights are the same: they stay within 31 bits.
TEST(RoughPolicy, SumsDoNotOverflow) {
  for (const float sign : {1.0F, -1.0F})
    for (const std::int64_t width : {3, 128, 1000}) {
      const PolicyArchitecture architecture{
          .inputs = width, .discrete = false, .actions = 1, .hidden = {width, width}};
      SKIP_UNLESS_POSSIBLE(architecture);
      PolicyStack stack(architecture, 1);
      for (auto& parameter : stack.parameters())
        if (parameter.rows > 1) std::ranges::fill(parameter.values, sign);
      std::ranges::fill(stack.parameters()[0].values, 1.0F);  // so that something passes the ReLU
      if (sign < 0.0F) std::ranges::fill(stack.parameters()[2].values, 1.0F);
      const std::vector<float> inputs(static_cast<std::size_t>(width), 1000.0F);
      const double expected = static_cast<double>(sign) * 1000.0 * std::pow(width, 3);
      for (const auto numerals : {Numerals::kShorts, Numerals::kBytes}) {
        const auto said = outputs_of(RoughPolicy(stack, 0, numerals), inputs, width, 2);
        EXPECT_NEAR(said[0], expected, 1e-3 * std::abs(expected)) << width;
      }
    }
}

TEST(RoughPolicy, ScalesWithInputsAndWeights) {
  const PolicyArchitecture architecture{.inputs = 17, .discrete = false, .actions = 6};
  SKIP_UNLESS_POSSIBLE(architecture);
  for (const float scale : {1e-6F, 1e6F}) {
    auto stack = random_stack(architecture);
    for (auto& x : stack.parameters()[0].values) x *= scale;
    auto steps = random_inputs(100, 17);
    for (auto& x : steps) x /= scale;
    EXPECT_LT(error_of(stack, steps, Numerals::kShorts), 2e-3);
    EXPECT_LT(error_of(stack, steps, Numerals::kBytes), 5e-2);
  }
}

TEST(RoughPolicy, AStepSaysTheSameAloneAndAmongOthers) {
  const PolicyArchitecture architecture{.inputs = 11, .discrete = false, .actions = 3};
  SKIP_UNLESS_POSSIBLE(architecture);
  const auto stack = random_stack(architecture);
  const auto steps = random_inputs(150, 11);
  for (const auto numerals : {Numerals::kShorts, Numerals::kBytes}) {
    const RoughPolicy policy(stack, 0, numerals);
    const auto together = outputs_of(policy, steps, 11, 6);
    for (std::size_t s = 0; s < 150; ++s) {
      const auto alone = outputs_of(policy, std::span(steps).subspan(s * 11, 11), 11, 6);
      EXPECT_TRUE(std::ranges::equal(alone, std::span(together).subspan(s * 6, 6)));
    }
  }
}

TEST(RoughPolicy, WhatIsNoNumberStaysWithItsStep) {
  const PolicyArchitecture architecture{.inputs = 4, .discrete = false, .actions = 1};
  SKIP_UNLESS_POSSIBLE(architecture);
  const RoughPolicy policy(random_stack(architecture), 0, Numerals::kBytes);
  auto steps = random_inputs(5, 4);
  const auto before = outputs_of(policy, steps, 4, 2);
  steps[4] = std::numeric_limits<float>::quiet_NaN();
  steps[4 * 3 + 2] = std::numeric_limits<float>::infinity();
  const auto after = outputs_of(policy, steps, 4, 2);
  for (const std::size_t s : {0U, 2U, 4U}) {
    EXPECT_EQ(after[2 * s], before[2 * s]);
    EXPECT_EQ(after[2 * s + 1], before[2 * s + 1]);
  }
  for (const std::size_t s : {1U, 3U})
    EXPECT_NE(std::pair(after[2 * s], after[2 * s + 1]),
              std::pair(before[2 * s], before[2 * s + 1]));
}

TEST(RoughPolicy, NeedsAHiddenLayer) {
  const PolicyArchitecture linear{.inputs = 4, .discrete = false, .actions = 1, .hidden = {}};
  EXPECT_FALSE(RoughPolicy::is_possible(linear));
  EXPECT_THROW(RoughPolicy(PolicyStack(linear, 1), 0, Numerals::kShorts), InvalidArgument);
}

}  // namespace
}  // namespace kindred
