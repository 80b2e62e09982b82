// Rough scores name the policy that exact scores name, and are exact where that is not clear.
#include "kindred/policies/rough_scoring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kindred/policies/architecture.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

#define SKIP_UNLESS_POSSIBLE(stack)                      \
  if (!RoughPolicy::is_possible((stack).architecture())) \
  GTEST_SKIP() << "*** NOT TESTED: this processor has no VNNI"

/// Three random policies for each of two groups of rivals: the second differs from the first by
/// next to nothing.
struct Rivals {
  NetworkView view;
  PolicyStack stack;
  std::vector<std::int64_t> groups = {7, 7, 7, 9, 9, 9};

  explicit Rivals(const Trajectories& data)
      : view{NetworkInputs::from(data.observations, true),
             NetworkActions::standardised(data.actions)},
        stack(architecture_for(data, view, 48, 2), 6) {
    for (std::int64_t p = 0; p < 6; ++p)
      stack.initialise(p, Random(7, "policy", static_cast<std::uint64_t>(p)));
    for (auto& parameter : stack.parameters())
      for (const std::int64_t first : {0, 3}) {
        std::ranges::copy(parameter.of(first), parameter.of(first + 1).begin());
        for (float& x : parameter.of(first + 1)) x *= 1.0F + 1e-5F;
      }
  }

  std::int64_t best(const Matrix& scores, std::int64_t episode, std::int64_t first) const {
    std::int64_t best = first;
    for (auto p = first; p < first + 3; ++p)
      if (scores(episode, p) > scores(episode, best)) best = p;
    return best;
  }
};

Trajectories many_steps() {
  return testing::linear_control({.episodes = 700, .length = 60, .obs_dim = 5, .act_dim = 3});
}

void expect_same_labels(const Trajectories& data, const Scoring& scoring) {
  const Rivals rivals(data);
  SKIP_UNLESS_POSSIBLE(rivals.stack);
  ASSERT_TRUE(RoughScoring::pays(data, rivals.stack));
  std::vector<float> common;
  if (scoring.common_share > 0.0)
    common = step_log_probs(data, rivals.view, rivals.stack, Workers());
  const auto exact =
      score_trajectories(data, rivals.view, rivals.stack, scoring, common, Workers());
  const RoughScoring rough(rivals.view, rivals.stack, rivals.groups, scoring, Workers());
  const auto margins = rough.margins(data, common, Workers());
  EXPECT_LT(margins.of_shorts, margins.of_bytes);
  ASSERT_TRUE(margins.are_small());
  const auto scores = rough.score(data, common, margins, Workers());
  std::int64_t in_floats = 0;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    for (const std::int64_t first : {0, 3})
      EXPECT_EQ(rivals.best(scores, i, first), rivals.best(exact, i, first));
    for (std::int64_t p = 0; p < 6; ++p) {
      EXPECT_NEAR(scores(i, p), exact(i, p),
                  margins.of_bytes * static_cast<double>(data.length(i)));
      in_floats += scores(i, p) == exact(i, p);
    }
  }
  EXPECT_GT(in_floats, data.episodes());  // nobody else tells two that are alike apart
  EXPECT_LT(in_floats, 5 * data.episodes());
  EXPECT_EQ(rough.score(data, common, margins, Workers(1)).values, scores.values);
}

TEST(RoughScoring, NamesTheSamePolicies) { expect_same_labels(many_steps(), {}); }

TEST(RoughScoring, NamesTheSameWhereStepsAreBounded) {
  expect_same_labels(many_steps(), {.common_share = 0.05, .floor = -3.0});
}

TEST(RoughScoring, NamesTheSameOfDiscreteActions) {
  expect_same_labels(testing::without_interning(testing::gridworld("diagonal", 900)), {});
}

TEST(RoughScoring, PaysForManyStepsAndFinitePolicies) {
  const auto data = many_steps();
  Rivals rivals(data);
  SKIP_UNLESS_POSSIBLE(rivals.stack);
  EXPECT_TRUE(RoughScoring::pays(data, rivals.stack));
  EXPECT_FALSE(
      RoughScoring::pays(testing::linear_control({.obs_dim = 5, .act_dim = 3}), rivals.stack));
  rivals.stack.parameters()[2].values[5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(RoughScoring::pays(data, rivals.stack));
}

/// Policies that are all but certain are not scored roughly.
TEST(RoughScoring, MarginsAreNotSmallForSharpPolicies) {
  const auto data = many_steps();
  Rivals rivals(data);
  SKIP_UNLESS_POSSIBLE(rivals.stack);
  auto& bias_of_deviations = rivals.stack.parameters().back();
  std::ranges::fill(bias_of_deviations.values, -9.0F);
  const RoughScoring rough(rivals.view, rivals.stack, rivals.groups, {}, Workers());
  EXPECT_FALSE(rough.margins(data, {}, Workers()).are_small());
}

}  // namespace
}  // namespace kindred
