// What every environment must do, checked by random play. A new entry of the registry is tested
// here without being named.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "kindred/core/error.h"
#include "kindred/envs/registry.h"
#include "kindred/envs/state_lookup.h"
#include "tests/envs/drift.h"
#include "tests/envs/playing.h"

namespace kindred {
namespace {

struct Subject {
  std::string name;
  std::function<std::unique_ptr<Environment>()> make;
};

void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

/// At its defaults, but for the horizon: long episodes show no more than short ones.
std::unique_ptr<Environment> make_short(const EnvironmentInfo& info) {
  const auto options = info.make_options();
  const auto table = options->describe();
  const auto* horizon = find_option(table, "horizon");
  horizon->set(std::min(horizon->get().get<std::int64_t>(), std::int64_t{40}));
  return options->make();
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const auto& info : available_environments())
    all.push_back({info.name, [info] { return make_short(info); }});
  const auto variant = [&](std::string what, std::string name, nlohmann::json options) {
    all.push_back({what + " " + name, [=] { return make_environment(name, options); }});
  };
  variant("tiny firm", "diagonal", {{"size", 4}, {"start-size", 1}, {"slip", 0.0}, {"horizon", 7}});
  variant("large random", "diagonal", {{"size", 12}, {"start-size", 9}, {"slip", 1.0}});
  variant("small", "takeball", {{"size", 6}, {"start-columns", 1}});
  variant("long", "takeball-permuted", {{"size", 11}, {"slip", 0.9}, {"horizon", 200}});
  variant("reference", "extra", {{"size", 7}, {"one-plane", true}, {"cells-stay", true}});
  variant("large crowded", "extra",
          {{"size", 12}, {"obstacles", 33}, {"reward", "minus"}, {"distance", "literal"}});
  variant("long firm", "path-following",
          {{"horizon", 256}, {"noise", 0.0}, {"reward", "up-first"}});
  variant("long uneven", "bandit", {{"horizon", 8}, {"first-state-share", 0.2}});
  all.push_back({"drift", [] { return std::make_unique<Drift>(); }});
  return all;
}

class Conformance : public ::testing::TestWithParam<Subject> {
 protected:
  std::unique_ptr<Environment> environment_ = GetParam().make();
  const EnvironmentSpec& spec_ = environment_->spec();
};

INSTANTIATE_TEST_SUITE_P(Environments, Conformance, ::testing::ValuesIn(subjects()),
                         [](const auto& tested) { return test_name(tested.param.name); });

TEST_P(Conformance, SpecIsComplete) {
  EXPECT_FALSE(spec_.name.empty());
  EXPECT_FALSE(spec_.summary.empty());
  EXPECT_FALSE(spec_.observation_shape.empty());
  EXPECT_GT(spec_.observation_dim(), 0);
  EXPECT_GT(spec_.action_width, 0);
  EXPECT_GT(spec_.horizon, 0);
  EXPECT_GE(spec_.states, 0);
  if (!spec_.action_names.empty()) {
    EXPECT_EQ(static_cast<std::int64_t>(spec_.action_names.size()), spec_.action_width);
  }
}

TEST_P(Conformance, ObservationsAndRewardsAreFinite) {
  for (const auto& episode : play(*environment_, 1, 0, 40)) {
    for (const auto& step : episode.steps) {
      EXPECT_TRUE(std::isfinite(step.reward));
      for (const float value : step.observation) ASSERT_TRUE(std::isfinite(value));
    }
    for (const float value : episode.last.observation) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(Conformance, BinaryObservationsAreZerosAndOnes) {
  if (!spec_.binary_observations) return;
  for (const auto& episode : play(*environment_, 1, 0, 40))
    for (const auto& step : episode.steps)
      for (const float value : step.observation) ASSERT_TRUE(value == 0.0f || value == 1.0f);
}

TEST_P(Conformance, EpisodesEndOnceAndByTheHorizon) {
  for (const auto& episode : play(*environment_, 2, 0, 200)) {
    const auto length = static_cast<std::int64_t>(episode.steps.size());
    ASSERT_LE(length, spec_.horizon);
    if (length < spec_.horizon) {
      EXPECT_EQ(episode.steps.back().ending, Ending::kTerminal);
    }
    for (std::size_t t = 0; t + 1 < episode.steps.size(); ++t)
      EXPECT_EQ(episode.steps[t].ending, Ending::kNone);
  }
}

TEST_P(Conformance, EndedLaneRefusesToStepUntilReset) {
  const auto lanes = environment_->make_lanes(1);
  const std::int32_t lane = 0;
  Random random(3);
  PlayedStep step;
  const auto take_step = [&] {
    step.action = random_action(spec_, random);
    step_lanes(spec_, *lanes, {&lane, 1}, {&step});
  };
  EXPECT_THROW(take_step(), InvalidArgument);  // never reset
  for (int episode = 0; episode < 3; ++episode) {
    lanes->reset(lane, Random(3, "", static_cast<std::uint64_t>(episode)));
    do take_step();
    while (step.ending == Ending::kNone);
    EXPECT_THROW(take_step(), InvalidArgument);
  }
}

TEST_P(Conformance, SameStreamSameEpisode) {
  EXPECT_EQ(play(*environment_, 4, 0, 30), play(*environment_, 4, 0, 30));
  EXPECT_NE(play(*environment_, 4, 0, 30), play(*environment_, 5, 0, 30));
}

TEST_P(Conformance, TwoInstancesAgree) {
  EXPECT_EQ(play(*environment_, 4, 0, 30), play(*GetParam().make(), 4, 0, 30));
}

TEST_P(Conformance, LanesDoNotInfluenceEachOther) {
  constexpr std::int32_t kEpisodes = 25;
  const auto together = play(*environment_, 6, 0, kEpisodes);
  EXPECT_EQ(together, play(*environment_, 6, 0, kEpisodes, /*backwards=*/true));
  for (std::int32_t i = 0; i < kEpisodes; ++i)
    EXPECT_EQ(together[static_cast<std::size_t>(i)], play(*environment_, 6, i, 1).front());
}

TEST_P(Conformance, ReusedLaneForgetsItsPast) {
  const auto lanes = environment_->make_lanes(1);
  const std::int32_t lane = 0;
  PlayedStep step;
  Random random(7);
  lanes->reset(lane, Random(7, "lane", 0));
  do {
    step.action = random_action(spec_, random);
    step_lanes(spec_, *lanes, {&lane, 1}, {&step});
  } while (step.ending == Ending::kNone);

  lanes->reset(lane, Random(7, "lane", 1));
  Random actions(7, "actions", 1);
  const auto fresh = play(*environment_, 7, 1, 1);
  for (const auto& expected : fresh.front().steps) {
    step = look(*environment_, *lanes, lane);
    step.action = random_action(spec_, actions);
    step_lanes(spec_, *lanes, {&lane, 1}, {&step});
    ASSERT_EQ(step, expected);
  }
}

TEST_P(Conformance, RejectsActionsThatDoNotExist) {
  const auto lanes = environment_->make_lanes(1);
  lanes->reset(0, Random(8));
  const std::int32_t lane = 0;
  float reward = 0.0f;
  Ending ending = Ending::kNone;
  const auto step = [&](ActionView actions) {
    lanes->step({&lane, 1}, actions, {&reward, 1}, {&ending, 1});
  };
  EXPECT_THROW(step({}), InvalidArgument);
  if (!spec_.is_discrete()) return;
  for (const std::int32_t action : {-1, static_cast<std::int32_t>(spec_.action_width)})
    EXPECT_THROW(step({{&action, 1}, {}}), InvalidArgument);
}

TEST_P(Conformance, StatesAndObservationsCorrespond) {
  std::vector<float> observation(static_cast<std::size_t>(spec_.observation_dim()));
  if (!spec_.has_states()) {
    std::int32_t state = 0;
    EXPECT_THROW(environment_->observe_state(0, observation), InvalidArgument);
    EXPECT_THROW(environment_->make_lanes(1)->states({&state, 1}, {&state, 1}), InvalidArgument);
    EXPECT_THROW(StateLookup{*environment_}, InvalidArgument);
    return;
  }
  std::map<std::vector<float>, std::int32_t> seen;
  for (std::int32_t state = 0; state < spec_.states; ++state) {
    environment_->observe_state(state, observation);
    const auto [entry, is_new] = seen.emplace(observation, state);
    ASSERT_TRUE(is_new) << "states " << entry->second << " and " << state << " look the same";
  }
  const StateLookup lookup(*environment_);
  const auto check = [&](const PlayedStep& step) {
    ASSERT_GE(step.state, 0);
    ASSERT_LT(step.state, spec_.states);
    environment_->observe_state(step.state, observation);
    ASSERT_EQ(step.observation, observation);
    ASSERT_EQ(lookup.find(observation), step.state);
  };
  for (const auto& episode : play(*environment_, 9, 0, 40)) {
    for (const auto& step : episode.steps) check(step);
    check(episode.last);
  }
  observation[0] += 0.5f;
  EXPECT_EQ(lookup.find(observation), std::nullopt);
  EXPECT_EQ(lookup.find(std::span(observation).first(1)), std::nullopt);
}

}  // namespace
}  // namespace kindred
