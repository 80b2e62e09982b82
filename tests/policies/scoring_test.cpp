// What a step counts under a policy that is mixed with a common one, on dense and counted data.
#include "kindred/policies/scoring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kindred/policies/architecture.h"
#include "kindred/policies/centres.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

constexpr double kShare = 0.05, kFloor = -3.0;

struct Policies {
  NetworkView view;
  PolicyStack own, common;

  explicit Policies(const Trajectories& data)
      : view{NetworkInputs::from(data.observations, true),
             NetworkActions::standardised(data.actions)},
        own(architecture_for(data, view, 16, 2), 2),
        common(own.architecture(), 1) {
    for (std::int64_t i = 0; i < 2; ++i)
      own.initialise(i, Random(7, "policy", static_cast<std::uint64_t>(i)));
    common.initialise(0, Random(7, "common"));
  }

  /// Log-probabilities of all steps under one of the stacks' policies.
  std::vector<float> log_probs(const Trajectories& data, const PolicyStack& stack,
                               std::int64_t index) const {
    return step_log_probs(data, view, stack.select(std::vector<std::int64_t>{index}), {});
  }
};

TEST(Scoring, MixesEveryStepWithTheCommonPolicy) {
  const auto control = testing::linear_control({.episodes = 9, .noise = 2.0});
  const auto grid = testing::gridworld("diagonal", 4);
  const auto dense = testing::without_interning(grid);
  for (const auto* data : {&control, &grid, &dense}) {
    Policies policies(*data);
    const auto common = policies.log_probs(*data, policies.common, 0);
    Matrix expected(data->episodes(), 2);
    for (std::int64_t p = 0; p < 2; ++p) {
      const auto own = policies.log_probs(*data, policies.own, p);
      for (std::int64_t i = 0; i < data->episodes(); ++i)
        for (auto t = data->offsets[i]; t < data->offsets[i + 1]; ++t) {
          const auto at = static_cast<std::size_t>(t);
          const double mixed =
              std::log((1.0 - kShare) * std::exp(own[at]) + kShare * std::exp(common[at]));
          EXPECT_GE(mixed, std::log(kShare) + static_cast<double>(common[at]) - 1e-9);
          expected(i, p) += std::max(kFloor, mixed);
        }
    }
    const NetworkCentres centres(policies.view, std::move(policies.own),
                                 {.common_share = kShare, .floor = kFloor},
                                 std::move(policies.common));
    const auto scores = centres.score(*data, {});
    for (std::size_t i = 0; i < expected.values.size(); ++i)
      EXPECT_NEAR(scores.values[i], expected.values[i], 1e-3);
  }
}

}  // namespace
}  // namespace kindred
