// How learned experts are trained, interrupted, kept and found again. What the shipped ones can do
// is tested elsewhere.
#include "kindred/experts/recipes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/envs/diagonal.h"
#include "kindred/envs/extra.h"
#include "kindred/envs/path_following.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/ppo/ppo.h"
#include "kindred/experts/rollout.h"
#include "tests/core/stopping.h"
#include "tests/envs/drift.h"
#include "tests/experts/temporary_folder.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Recipes, NameTheExpertsOfEachEnvironment) {
  EXPECT_THAT(trained_names("extra"), ElementsAre("plus", "minus", "zero"));
  EXPECT_THAT(trained_names("path-following"), ElementsAre("free", "up-first", "right-first"));
  for (const char* body : {"hopper", "halfcheetah", "walker2d", "ant"})
    EXPECT_THAT(trained_names(body), ElementsAre("medium", "expert")) << body;
  for (const char* name : {"diagonal", "takeball", "bandit", "labyrinth"}) {
    EXPECT_THAT(trained_names(name), ElementsAre());
    EXPECT_THAT(recipes(name), ElementsAre());
  }
}

TEST(Recipes, ShippedNamesBeginWithTheExperts) {
  EXPECT_EQ(shipped_names("extra"), trained_names("extra"));
  EXPECT_EQ(pool_names("ant"), trained_names("ant"));
  const auto hopper = shipped_names("hopper"), pool = pool_names("hopper");
  ASSERT_EQ(pool.size(), 10U);
  EXPECT_EQ(hopper[0], "medium");
  EXPECT_EQ(hopper[1], "expert");
  ASSERT_EQ(hopper.size(), 12U);  // the pool, whose order mixtures draw from, then the strong ones
  EXPECT_TRUE(std::ranges::equal(pool, std::span(hopper).first(10)));
  EXPECT_EQ(hopper[10], "strong-medium");
  EXPECT_EQ(hopper[11], "strong-expert");
}

TEST(Recipes, TrainOnEnvironmentsAndOptionsThereAre) {
  for (const auto& info : environments())
    for (auto recipe : recipes(info.name)) {
      EXPECT_EQ(recipe.environment, info.name);
      const auto options = info.make_options();
      from_json(options->describe(), recipe.environment_options, "recipe");
      EXPECT_EQ(to_json(checked(recipe.ppo).describe()), to_json(recipe.ppo.describe()));
      EXPECT_FALSE(recipe.summary.empty());
      EXPECT_FALSE(recipe.sac);
    }
}

TEST(Recipes, TrainStrongExpertsOfMujocoBySac) {
  for (const char* body : {"hopper", "halfcheetah", "walker2d", "ant"}) {
    auto all = strong_recipes(body);
    ASSERT_EQ(all.size(), 1U) << body;
    EXPECT_EQ(all[0].expert, "strong-expert");
    EXPECT_EQ(all[0].medium, "strong-medium");
    ASSERT_TRUE(all[0].sac);
    EXPECT_EQ(to_json(checked(*all[0].sac).describe()), to_json(all[0].sac->describe()));
  }
  for (const char* name : {"diagonal", "extra", "path-following", "labyrinth"})
    EXPECT_THAT(strong_recipes(name), ElementsAre()) << name;
}

/// A recipe of a moment: 9 updates, of which the checkpoints are 4 and 8.
Recipe quick_recipe() {
  return {.environment = "drift",
          .expert = "expert",
          .summary = "Stays at the origin.",
          .environment_options = nlohmann::json::object(),
          .ppo = {.steps = 1'800,
                  .lanes = 20,
                  .lane_steps = 10,
                  .epochs = 2,
                  .minibatch = 100,
                  .hidden = 16,
                  .checkpoint = 4,
                  .workers = Workers(1)},
          .medium = "medium"};
}

/// Everything but how long it took.
std::string outcome(const std::vector<TrainedExpert>& experts) {
  std::string all;
  for (const auto& [policy, record] : experts) {
    auto timeless = record;
    timeless.erase("seconds");
    all += policy->to_bytes() + timeless.dump();
  }
  return all;
}

class Train : public ::testing::Test {
 protected:
  struct Interruption {};

  /// Trains until `updates` are done, then leaves as if the program had been killed.
  void interrupt_after(int updates) {
    TrainingRun run = run_;
    run.progress = [&](const CurvePoint&, const Training&) {
      if (updates-- == 0) throw Interruption();
    };
    EXPECT_THROW(train(recipe_, drift_, run), Interruption);
  }

  TemporaryFolder folder_;
  Drift drift_;
  Recipe recipe_ = quick_recipe();
  TrainingRun run_{.progress = {}, .checkpoint = folder_.path() / "drift-expert.h5"};
};

TEST_F(Train, GivesTheMediumPolicyFirstAndRecordsBoth) {
  int updates = 0;
  TrainingRun run;
  run.progress = [&](const CurvePoint& point, const Training& training) {
    EXPECT_EQ(point.steps, 200 * ++updates);
    EXPECT_EQ(training.planned_steps(), 1'800);
  };
  const auto experts = train(recipe_, drift_, run);
  EXPECT_EQ(updates, 9);
  ASSERT_EQ(experts.size(), 2U);
  EXPECT_EQ(experts[0].policy->name(), "medium");
  EXPECT_EQ(experts[1].policy->name(), "expert");
  EXPECT_EQ(experts[1].policy->summary(), recipe_.summary);
  for (const auto& [policy, record] : experts) {
    EXPECT_EQ(record["environment"], "drift");
    EXPECT_EQ(record["expert"], policy->name());
    EXPECT_EQ(record["ppo"]["lanes"], 20);
    EXPECT_EQ(record["curve"].size(), 9U);
    EXPECT_EQ(record["evaluation"]["episodes"], 100);
    EXPECT_LT(record["evaluation"]["mean_return"].get<double>(), 0.0);
    EXPECT_LE(record["evaluation"]["mean_length"].get<double>(), 15.0);
  }
  EXPECT_EQ(experts[1].record["trained_steps"], 1'800);
  EXPECT_LE(experts[0].record["trained_steps"].get<int>(), 1'800);

  recipe_.medium.clear();
  const auto only = train(recipe_, drift_, {});
  ASSERT_EQ(only.size(), 1U);
  EXPECT_EQ(only[0].policy->to_bytes(), experts[1].policy->to_bytes());
}

TEST_F(Train, BySacWhereTheRecipeSaysSo) {
  recipe_.sac = SacOptions{.steps = 1'200,
                           .lanes = 10,
                           .lane_steps = 12,
                           .gradients = 2,
                           .minibatch = 50,
                           .hidden = 16,
                           .start = 240,
                           .checkpoint = 3,
                           .workers = Workers(1)};
  const auto experts = train(recipe_, drift_, {});
  ASSERT_EQ(experts.size(), 2U);
  for (const auto& [policy, record] : experts) {
    EXPECT_EQ(policy->actions(), NetworkPolicy::Actions::kSquashed);
    EXPECT_EQ(record["sac"]["lanes"], 10);
    EXPECT_FALSE(record.contains("ppo"));
    EXPECT_EQ(record["curve"].size(), 10U);
    EXPECT_TRUE(record["curve"][9].contains("temperature"));
  }
  for (const int updates : {1, 5}) interrupt_after(updates);
  EXPECT_EQ(outcome(train(recipe_, drift_, run_)), outcome(experts));
}

TEST_F(Train, StoppedAtAnyMomentAndResumedEqualsStraight) {
  const auto straight = outcome(train(recipe_, drift_, {}));
  int stops = 0;
  for (double questions = 3.0; questions < 1e6; questions *= 2.0, ++stops) {
    recipe_.ppo.workers.stop_requested =
        stopping::after_questions(static_cast<std::int64_t>(questions));
    try {
      EXPECT_EQ(outcome(train(recipe_, drift_, run_)), straight);
      break;
    } catch (const Interrupted&) {
    }
  }
  EXPECT_GT(stops, 3);
  EXPECT_LT(stops, 15);
}

TEST_F(Train, StopsWithinASecond) {
  recipe_.ppo = {.steps = 1'000'000'000, .lanes = 64, .lane_steps = 20'000, .epochs = 10};
  const double seconds = stopping::seconds_until_end(0.2, [&](const auto& stop_requested) {
    recipe_.ppo.workers.stop_requested = stop_requested;
    EXPECT_THROW(train(recipe_, drift_, {}), Interrupted);
  });
  EXPECT_LT(seconds, 1.0);
}

TEST_F(Train, InterruptedAndResumedEqualsStraight) {
  const auto straight = outcome(train(recipe_, drift_, {}));
  for (const int updates : {2, 6}) interrupt_after(updates);  // before and after a checkpoint
  EXPECT_EQ(outcome(train(recipe_, drift_, run_)), straight);
}

/// A checkpoint is two files: the newer one of them must do no harm.
TEST_F(Train, KilledWhileSavingEqualsStraight) {
  const auto straight = outcome(train(recipe_, drift_, {}));
  interrupt_after(6);
  const auto older = read_text(run_.checkpoint);
  interrupt_after(4);  // the ninth update, after the second checkpoint
  EXPECT_NE(read_text(run_.checkpoint), older);
  write_text(run_.checkpoint, older);
  EXPECT_EQ(outcome(train(recipe_, drift_, run_)), straight);
}

TEST_F(Train, RefusesTheCheckpointOfOtherOptions) {
  interrupt_after(6);
  recipe_.ppo.learning_rate = 0.01;
  EXPECT_THROW(train(recipe_, drift_, run_), DataFormatError);
}

class LoadExperts : public ::testing::Test {
 protected:
  /// A policy that has learned nothing, for each expert of the environment.
  void write_experts(const Environment& environment) const {
    const Ppo training(environment,
                       {.lanes = 1, .lane_steps = 1, .hidden = 16, .workers = Workers(1)});
    for (const auto& name : trained_names(environment.spec().name))
      write_text(file(environment, name), training.policy(name, "Untrained.")->to_bytes());
  }
  std::filesystem::path file(const Environment& environment, const std::string& name) const {
    return folder_.path() / policy_file(environment.spec().name, name);
  }
  template <class Error>
  void expect_refused(const Environment& environment, const std::string& words) const {
    EXPECT_THAT([&] { load_experts(environment, folder_.path()); },
                ThrowsMessage<Error>(HasSubstr(words)));
  }

  TemporaryFolder folder_;
};

TEST_F(LoadExperts, FindsThoseOfAFolderInTheOrderOfTheLabels) {
  EXPECT_EQ(policy_file("extra", "plus"), "extra-plus.policy");
  const Extra extra;
  const PathFollowing path;
  write_experts(extra);
  write_experts(path);
  for (const Environment* environment : std::vector<const Environment*>{&extra, &path}) {
    const auto experts = load_experts(*environment, folder_.path());
    std::vector<std::string> names;
    for (const auto& expert : experts) names.push_back(expert->name());
    EXPECT_EQ(names, trained_names(environment->spec().name));
    const auto data = generate(*environment, experts, {.per_expert = 5});
    data.validate("generated");
    EXPECT_EQ(data.label_names, names);
  }
}

TEST_F(LoadExperts, SaysWhatIsMissingUnlessItIsNotAskedFor) {
  const PathFollowing path;
  expect_refused<InvalidArgument>(path, "path-following-free.policy");
  write_experts(path);
  std::filesystem::remove(file(path, "up-first"));
  expect_refused<InvalidArgument>(path, "path-following-up-first.policy");
  const auto others = load_experts(path, folder_.path(), "right-first,free");
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others[0]->name(), "right-first");
  EXPECT_THROW(load_experts(path, folder_.path(), "best"), InvalidArgument);
}

TEST_F(LoadExperts, RefusesThoseOfOtherObservationsOrActions) {
  write_experts(Extra());
  expect_refused<InvalidArgument>(Extra({.size = 8}), "other observations");
  expect_refused<InvalidArgument>(Extra({.one_plane = true}), "other observations");
  const auto other =
      Ppo(Drift(), {.lanes = 1, .lane_steps = 1, .hidden = 16, .workers = Workers(1)})
          .policy("free", "Untrained.");
  const PathFollowing path;
  write_experts(path);
  write_text(file(path, "free"), other->to_bytes());
  expect_refused<InvalidArgument>(path, "other observations");
}

TEST_F(LoadExperts, RefusesDamagedFilesAndRuleFollowers) {
  const PathFollowing path;
  write_experts(path);
  write_text(file(path, "free"), "damaged");
  expect_refused<DataFormatError>(path, "path-following-free.policy");
  expect_refused<InvalidArgument>(Diagonal(), "'diagonal'");
}

}  // namespace
}  // namespace kindred
