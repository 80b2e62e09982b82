// Two policies in one place, and one policy in two: what tells them apart.
#include "kindred/findings/matched_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "kindred/core/random.h"
#include "kindred/findings/baseline.h"
#include "kindred/findings/state_rows.h"

namespace kindred {
namespace {

using findings::Json;

constexpr std::int64_t kEpisodes = 40, kSteps = 60;

struct World {
  double apart = 0.0;    ///< Between the places of the two halves.
  double opposed = 0.0;  ///< How much their actions differ.
  bool discrete = false;
};

/// Half of the episodes are of label 0, half of label 1, in turn.
Trajectories made(const World& world) {
  Random random(7, "matched");
  std::vector<std::int64_t> offsets{0};
  std::vector<float> states, actions;
  std::vector<std::int32_t> choices, labels;
  Trajectories data;
  for (std::int64_t e = 0; e < kEpisodes; ++e) {
    const auto label = static_cast<std::int32_t>(e % 2);
    for (std::int64_t t = 0; t < kSteps; ++t) {
      const double x = random.normal() + world.apart * label, y = random.normal();
      states.push_back(static_cast<float>(x));
      states.push_back(static_cast<float>(y));
      const double wanted = 0.5 * y + (label == 0 ? 1.0 : -1.0) * world.opposed;
      actions.push_back(static_cast<float>(wanted + 0.3 * random.normal()));
      actions.push_back(static_cast<float>(random.normal()));
      choices.push_back(actions[actions.size() - 2] > 0.0f ? 1 : 0);
    }
    labels.push_back(label);
    offsets.push_back(offsets.back() + kSteps);
    data.ids.push_back(std::to_string(e));
  }
  data.offsets = std::move(offsets);
  data.observations = Observations::dense(Column<float>(std::move(states)), 2);
  data.actions = world.discrete ? Actions::discrete(std::move(choices), 2)
                                : Actions::continuous(std::move(actions), 2);
  data.labels = std::move(labels);
  data.observation_names = {"east", "north"};
  data.action_names = {"push", "idle"};
  return data;
}

findings::RunData clustered_as_true(const Trajectories& data) {
  findings::RunData found{.run = {}, .data = data};
  found.members.resize(2);
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    found.run.labels.push_back(data.labels[i]);
    found.members[static_cast<std::size_t>(data.labels[i])].push_back(i);
  }
  return found;
}

TEST(MatchedStates, TellTwoPoliciesInOnePlaceApart) {
  const auto data = made({.opposed = 0.5});
  const auto pairs = findings::matched_states(clustered_as_true(data));
  ASSERT_EQ(pairs.size(), 1u);
  const auto& pair = pairs[0];
  EXPECT_EQ(pair["verdict"], "differ");
  EXPECT_GT(pair["between"].get<double>(), 1.3 * pair["within"].get<double>());
  EXPECT_EQ(pair["action"]["name"], "push");
  EXPECT_NEAR(pair["action"]["higher"].get<double>(), 1.0, 0.2);
}

TEST(MatchedStates, DoNotTellOnePolicyFromItself) {
  const auto same = made({});
  EXPECT_EQ(findings::matched_states(clustered_as_true(same))[0]["verdict"], "alike");
  const auto elsewhere = made({.apart = 1.5});  // they meet in between
  EXPECT_NE(findings::matched_states(clustered_as_true(elsewhere))[0]["verdict"], "differ");
  const auto far = made({.apart = 30.0, .opposed = 0.5});
  EXPECT_EQ(findings::matched_states(clustered_as_true(far))[0]["verdict"], "apart");
}

TEST(MatchedStates, SayWhichChoicesDiffer) {
  const auto data = made({.opposed = 0.5, .discrete = true});
  const auto pair = findings::matched_states(clustered_as_true(data))[0];
  EXPECT_EQ(pair["verdict"], "differ");
  EXPECT_EQ(pair["choices"]["first"], 1);
  EXPECT_EQ(pair["choices"]["second"], 0);
}

TEST(MatchedStates, OfOneClusterAreNothing) {
  const auto data = made({});
  auto found = clustered_as_true(data);
  found.members.pop_back();
  EXPECT_TRUE(findings::matched_states(found).is_null());
  EXPECT_TRUE(findings::baselines(found).is_null());
}

TEST(Baselines, OfStatesFindPlacesAndNotPolicies) {
  const auto places = made({.apart = 3.0});
  const auto by_place = findings::baselines(clustered_as_true(places));
  EXPECT_EQ(by_place["states"]["answer"]["ami"], 1.0);
  const auto policies = made({.opposed = 0.5});
  const auto by_policy = findings::baselines(clustered_as_true(policies));
  EXPECT_LT(by_policy["states"]["answer"]["ami"].get<double>(), 0.2);
  EXPECT_EQ(by_policy["everything"]["truth"], by_policy["everything"]["answer"]);
}

TEST(StateRows, PoolWhatIsWideAndBringColumnsToOneScale) {
  std::vector<float> pixels(2 * 10);
  std::iota(pixels.begin(), pixels.end(), 0.0f);
  const auto observations = Observations::dense(Column<float>(std::move(pixels)), 10);
  const std::vector<std::int64_t> steps = {1, 0};
  auto rows = findings::state_rows(observations, steps, 5);
  EXPECT_EQ(rows.width, 5);
  EXPECT_EQ(rows.values.front(), 10.5f);
  EXPECT_EQ(rows.values.back(), 8.5f);
  rows.values[0] = rows.values[5] = 4.0f;
  findings::standardise(rows.values, 5);
  EXPECT_EQ(rows.values[0], 0.0f);
  EXPECT_FLOAT_EQ(rows.values[1], 1.0f);
  EXPECT_FLOAT_EQ(rows.values[6], -1.0f);
}

}  // namespace
}  // namespace kindred
