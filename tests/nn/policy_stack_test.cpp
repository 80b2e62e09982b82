#include "kindred/nn/policy_stack.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kindred/core/error.h"

namespace kindred {
namespace {

const PolicyArchitecture kShape{.inputs = 5, .discrete = false, .actions = 3, .hidden = {7, 6}};

PolicyStack some_policies() {
  PolicyStack stack(kShape, 3);
  for (std::int64_t i = 0; i < 3; ++i)
    stack.initialise(i, Random(5, "policy", static_cast<std::uint64_t>(i)));
  return stack;
}

void expect_same(const PolicyStack& a, std::int64_t i, const PolicyStack& b, std::int64_t j) {
  for (std::size_t p = 0; p < a.parameters().size(); ++p)
    EXPECT_TRUE(std::ranges::equal(a.parameters()[p].of(i), b.parameters()[p].of(j)));
}

TEST(PolicyStack, HasAWeightAndABiasPerLayer) {
  const auto stack = some_policies();
  ASSERT_EQ(stack.parameters().size(), 8U);  // two hidden layers, means and deviations
  EXPECT_EQ(stack.parameters()[2].rows, 7);
  EXPECT_EQ(stack.parameters()[2].columns, 6);
  EXPECT_EQ(stack.parameters()[7].rows, 1);
  EXPECT_EQ(stack.parameters()[7].columns, 3);
  EXPECT_EQ(stack.parameters()[7].values.size(), 9U);
}

TEST(PolicyStack, SelectsAndAssignsWholePolicies) {
  const auto stack = some_policies();
  const auto part = stack.select(std::vector<std::int64_t>{2, 0});
  expect_same(part, 0, stack, 2);
  expect_same(part, 1, stack, 0);
  auto other = some_policies();
  other.assign(std::vector<std::int64_t>{0, 1}, part);
  expect_same(other, 0, stack, 2);
  expect_same(other, 1, stack, 0);
  expect_same(other, 2, stack, 2);
  EXPECT_THROW(other.assign(std::vector<std::int64_t>{0}, part), InvalidArgument);
}

}  // namespace
}  // namespace kindred
