// Which policies a mixture holds, and how its options change what they do and what is recorded.
#include "kindred/experts/mixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kindred/core/error.h"
#include "kindred/envs/diagonal.h"
#include "kindred/envs/mujoco/locomotion.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/recipes.h"
#include "tests/envs/drift.h"
#include "tests/experts/push.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(MixturePool, HoldsEveryShippedPolicyOfAMujocoTask) {
  for (const char* task : {"hopper", "halfcheetah", "walker2d"})
    EXPECT_THAT(mixture_pool(task),
                ElementsAre("medium", "expert", "medium-11", "expert-11", "medium-12", "expert-12",
                            "medium-13", "expert-13", "medium-14", "expert-14"));
  EXPECT_THAT(mixture_pool("ant"), ElementsAre("medium", "expert"));
  for (const char* other : {"extra", "path-following", "diagonal", "labyrinth"})
    EXPECT_THAT(mixture_pool(other), ElementsAre()) << other;
}

TEST(MixturePool, PoliciesAreCalledAsTheirFiles) {
  if (!has_mujoco()) GTEST_SKIP() << "*** NOT TESTED: the policies, as this build has no MuJoCo";
  for (const char* task : {"hopper", "halfcheetah", "walker2d", "ant"})
    for (const auto& name : mixture_pool(task)) {
      const auto experts = make_experts(*make_environment(task), name);
      ASSERT_EQ(experts.size(), 1U);
      EXPECT_EQ(experts.front()->name(), name) << task;
    }
}

TEST(DrawMixture, DependsOnTheSeedAlone) {
  EXPECT_EQ(draw_mixture("hopper", 6, 3), draw_mixture("hopper", 6, 3));
  std::set<std::string> mixtures;
  for (std::int64_t seed = 0; seed < 20; ++seed) mixtures.insert(draw_mixture("hopper", 6, seed));
  EXPECT_GT(mixtures.size(), 15U);
  EXPECT_EQ(draw_mixture("hopper", 0, 3), draw_mixture("hopper", 10, 3));
  EXPECT_EQ(select_names(mixture_pool("hopper"), draw_mixture("hopper", 0, 3)).size(), 10U);
}

TEST(DrawMixture, OfMoreStartsWithThoseOfFewer) {
  for (std::int64_t n = 1; n < 10; ++n)
    EXPECT_TRUE(draw_mixture("walker2d", n + 1, 5).starts_with(draw_mixture("walker2d", n, 5)));
}

TEST(DrawMixture, RefusesMoreThanThereAre) {
  EXPECT_THAT([] { draw_mixture("hopper", 11, 0); },
              ThrowsMessage<InvalidArgument>("there are 10 policies of 'hopper' to mix, not 11"));
  EXPECT_THAT([] { draw_mixture("ant", 3, 0); },
              ThrowsMessage<InvalidArgument>(HasSubstr("there are 2 policies")));
}

TEST(HopperMixture, IsLabelledByTheDrawnPolicies) {
  if (!has_mujoco()) GTEST_SKIP() << "*** NOT TESTED: the policies, as this build has no MuJoCo";
  const auto hopper = make_environment("hopper", {{"horizon", 60}});
  const auto drawn = draw_mixture("hopper", 4, 3);
  const auto data = generate_mixture(*hopper, make_experts(*hopper, drawn), {},
                                     {.per_expert = 3, .seed = 3, .workers = Workers(1)});
  data.validate("mixture");
  EXPECT_EQ(data.episodes(), 12);
  EXPECT_EQ(data.label_names, select_names(mixture_pool("hopper"), drawn));
  std::int64_t recognised = 0;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    EXPECT_EQ(data.labels[i], i / 3);
    EXPECT_LE(data.length(i), 60);
    recognised += data.oracle[i] == data.labels[i];
  }
  EXPECT_GE(recognised, 11);
  EXPECT_EQ(data.provenance["mixture"]["policies"], 4);
  EXPECT_EQ(data.provenance["environment"], "hopper");
}

class Mixture : public ::testing::Test {
 protected:
  Trajectories made(const MixtureOptions& mixture) const {
    return generate_mixture(drift_, policies_, mixture, {.per_expert = 40, .seed = 7});
  }
  static std::vector<float> actions_of(const Trajectories& data) {
    return {data.actions.floats().begin(), data.actions.floats().end()};
  }
  /// How far recorded actions are from the mean that their policy acts by.
  static double spread(const Trajectories& data) {
    double squares = 0.0;
    for (std::int64_t i = 0; i < data.episodes(); ++i)
      for (auto k = 2 * data.offsets[i]; k < 2 * data.offsets[i + 1]; ++k) {
        const float direction = data.labels[i] == 0 ? 1.0F : -1.0F;
        const float mean = direction - 0.1F * data.observations.floats()[k];
        squares += std::pow(static_cast<double>(data.actions.floats()[k] - mean), 2);
      }
    return std::sqrt(squares / static_cast<double>(2 * data.steps()));
  }

  Drift drift_;
  Policies policies_ = {std::make_shared<Push>(1.0F), std::make_shared<Push>(-1.0F)};
};

TEST_F(Mixture, WithoutOptionsIsAPlainDataset) {
  const auto data = made({});
  const auto plain = generate(drift_, policies_, {.per_expert = 40, .seed = 7});
  EXPECT_EQ(actions_of(data), actions_of(plain));
  EXPECT_EQ(data.ids, plain.ids);
  EXPECT_EQ(data.label_names, plain.label_names);
}

TEST_F(Mixture, ActsByTheMeanOrWithNoise) {
  EXPECT_NEAR(spread(made({})), 0.3, 0.02);
  EXPECT_LT(spread(made({.deterministic = true})), 1e-6);
  EXPECT_NEAR(spread(made({.noise = 0.4})), 0.5, 0.03);  // 0.3 and 0.4, squared and added
  EXPECT_NEAR(spread(made({.deterministic = true, .noise = 0.4})), 0.4, 0.03);
}

TEST_F(Mixture, TheOracleKnowsHowPoliciesAct) {
  for (const MixtureOptions& mixture :
       {MixtureOptions{.deterministic = true}, {.noise = 0.2}, {.action_scale = 9.0}}) {
    const auto data = made(mixture);
    EXPECT_TRUE(std::ranges::equal(data.oracle, data.labels));
  }
}

TEST_F(Mixture, RecordsActionsScaledAndShifted) {
  const auto before = made({}), after = made({.action_scale = 2.0, .action_shift = -0.5});
  ASSERT_EQ(before.steps(), after.steps());
  for (std::int64_t i = 0; i < 2 * before.steps(); ++i) {
    EXPECT_FLOAT_EQ(after.actions.floats()[i], 2.0F * before.actions.floats()[i] - 0.5F);
    EXPECT_EQ(after.observations.floats()[i], before.observations.floats()[i]);
  }
  EXPECT_EQ(after.provenance["mixture"]["action-scale"], 2.0);
  EXPECT_EQ(after.provenance["mixture"]["action-shift"], -0.5);
}

TEST_F(Mixture, RepeatsEpisodesUnderNewIds) {
  const auto data = made({.duplicate = 9});
  data.validate("mixture");
  ASSERT_EQ(data.episodes(), 89);
  EXPECT_EQ(std::set(data.ids.begin(), data.ids.end()).size(), 89U);
  const auto sources = data.provenance["duplicates"].get<std::vector<std::int64_t>>();
  EXPECT_EQ(std::set(sources.begin(), sources.end()).size(), 9U);
  for (std::int64_t i = 0; i < 9; ++i) {
    const auto copy = 80 + i, source = sources[static_cast<std::size_t>(i)];
    ASSERT_EQ(data.length(copy), data.length(source));
    EXPECT_EQ(data.labels[copy], data.labels[source]);
    EXPECT_TRUE(std::equal(data.actions.floats().begin() + 2 * data.offsets[copy],
                           data.actions.floats().begin() + 2 * data.offsets[copy + 1],
                           data.actions.floats().begin() + 2 * data.offsets[source]));
  }
  EXPECT_THAT([&] { made({.duplicate = 81}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("there are only 80")));
}

TEST_F(Mixture, RefusesImpossibleOptions) {
  EXPECT_THROW(made({.noise = -0.1}), InvalidArgument);
  EXPECT_THROW(made({.action_scale = 0.0}), InvalidArgument);
  EXPECT_THROW(made({.duplicate = -1}), InvalidArgument);
  const Diagonal diagonal;
  EXPECT_THAT([&] { generate_mixture(diagonal, make_experts(diagonal), {}, {}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("discrete")));
}

}  // namespace
}  // namespace kindred
