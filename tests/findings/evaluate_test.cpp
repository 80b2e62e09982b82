// Evaluating a run: which episodes, which policies, which pick, what is written down.
#include "kindred/findings/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/select.h"
#include "kindred/envs/diagonal.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/methods/return_kmeans/return_kmeans.h"
#include "mirror.h"
#include "tests/core/stopping.h"
#include "tests/runs/records.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST(BestEpisodes, AreAShareInOrderOfReturn) {
  const std::vector<double> returns = {1.0, 5.0, 3.0, 5.0, 2.0, 4.0};
  EXPECT_THAT(best_episodes(returns, 0.5), ElementsAre(1, 3, 5));
  EXPECT_THAT(best_episodes(returns, 0.01), ElementsAre(1));  // at least one; the first of equals
  EXPECT_EQ(best_episodes(returns, 1.0).size(), 6U);
}

TEST(BestEpisodes, HaveAReturn) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const std::vector<double> returns = {nan, 5.0, nan, 7.0, inf, 4.0};
  EXPECT_THAT(best_episodes(returns, 0.4), ElementsAre(3, 1));
  EXPECT_THAT(best_episodes(returns, 1.0), ElementsAre(3, 1, 5));
}

TEST(PickCluster, TakesTheHighestMeanOfWhatWasSeen) {
  const std::vector<std::int32_t> labels = {0, 0, 1, 1, 2, 2};
  const std::vector<double> returns = {1.0, 2.0, 3.0, 5.0, 100.0, 100.0};
  const std::vector<std::int64_t> seen = {0, 1, 2, 3};
  const auto pick = pick_cluster(labels, 3, returns, seen);
  EXPECT_EQ(pick.cluster, 1);  // nobody looked at cluster 2
  EXPECT_THAT(pick.labelled, ElementsAre(2, 2, 0));
  EXPECT_THAT(pick.mean_return,
              ElementsAre(Optional(DoubleEq(1.5)), Optional(DoubleEq(4.0)), std::nullopt));
}

TEST(PickCluster, BreaksTiesByHowMuchWasSeen) {
  const std::vector<std::int32_t> labels = {0, 1, 1, 2, 2};
  const std::vector<double> returns = {-3.0, -3.0, -3.0, -3.0, -3.0};
  const std::vector<std::int64_t> all = {0, 1, 2, 3, 4};
  EXPECT_EQ(pick_cluster(labels, 3, returns, all).cluster, 1);  // two seen, the lower number
  const std::vector<std::int64_t> few = {0, 3, 4};
  EXPECT_EQ(pick_cluster(labels, 3, returns, few).cluster, 2);
  const std::vector<std::int64_t> last = {3};  // a negative return beats none
  EXPECT_EQ(pick_cluster(labels, 3, returns, last).cluster, 2);
}

TEST(PickCluster, ReturnsThatAreNotNumbersCountForNothing) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> returns = {nan, 1.0, infinite, 3.0, 2.0};
  EXPECT_THAT(best_episodes(returns, 0.6), ElementsAre(3, 4, 1));
  const std::vector<std::int32_t> labels = {0, 0, 1, 1, 2};
  const std::vector<std::int64_t> all = {0, 1, 2, 3, 4};
  const auto pick = pick_cluster(labels, 3, returns, all);
  EXPECT_EQ(pick.cluster, 1);
  EXPECT_THAT(pick.labelled, ElementsAre(1, 1, 1));
}

LoadedRun as_loaded(const Clustering& clustering, const Trajectories& data) {
  LoadedRun run;
  run.record = testing::record_of(clustering, data);
  run.episodes = data.ids;
  run.labels = clustering.labels;
  run.centres = clustering.centres;
  return run;
}

/// One run of PG-Kmeans on the two mirror policies for all tests.
class Evaluate : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    data_ = testing::mirror_data(40);
    pg_kmeans::Options options;
    options.k = 2;
    options.policy = pg_kmeans::PolicyKind::kMlp;
    options.restarts = 3;
    options.hidden = 16;
    run_ = as_loaded(pg_kmeans::fit(data_, options), data_);
  }

  static EvaluateOptions quick() {
    EvaluateOptions options;
    options.rounds = 3;
    options.continue_rounds = 2;
    return options;
  }

  /// The cluster of the policy that repeats what it sees.
  static std::size_t good() { return static_cast<std::size_t>(run_.labels.back()); }

  static std::string refusal(const LoadedRun& run, const Trajectories& data,
                             const Environment& environment, const EvaluateOptions& options) {
    try {
      evaluate(run, data, environment, options, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  static inline Trajectories data_;
  static inline LoadedRun run_;
  testing::Mirror mirror_;
};

TEST_F(Evaluate, CentresActAsThePoliciesTheyCameFrom) {
  ASSERT_NE(run_.labels.front(), run_.labels.back());
  auto options = quick();
  options.episodes = 200;
  const auto result = evaluate(run_, data_, mirror_, options, {});
  ASSERT_EQ(result.clusters.size(), 2U);
  const auto& best = result.clusters[good()];
  const auto& worst = result.clusters[1 - good()];
  EXPECT_EQ(best.source_episodes, 40);
  EXPECT_NEAR(best.source_return.value(), 20.0 * (1.0 - 0.01), 0.1);
  EXPECT_GT(best.mean_return, 19.9);  // without the noise it is nearly perfect
  EXPECT_NEAR(best.score.value(), 100.0, 2.0);
  EXPECT_NEAR(worst.mean_return, 20.0 * (1.0 - 4.0 / 3.0), 2.0);
  EXPECT_EQ(best.returns.size(), 200U);
  EXPECT_THAT(best.lengths, ::testing::Each(20));
  EXPECT_THAT(result.origin, HasSubstr("trained further"));
}

TEST_F(Evaluate, ReturnsThatAreNotNumbersAreNotCounted) {
  auto data = data_;
  std::vector<float> rewards(data.rewards.begin(), data.rewards.end());
  for (std::int64_t i = 0; i < data.episodes(); i += 2)
    rewards[static_cast<std::size_t>(data.offsets[i])] = std::nanf("");
  data.rewards = rewards;
  const auto result = evaluate(run_, data, mirror_, quick(), {});
  const auto known = evaluate(run_, data_, mirror_, quick(), {});
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(result.clusters[c].source_episodes, known.clusters[c].source_episodes);
    EXPECT_NEAR(result.clusters[c].source_return.value(), known.clusters[c].source_return.value(),
                1.5);
  }
  EXPECT_EQ(result.pick->cluster, static_cast<std::int64_t>(good()));
  EXPECT_EQ(result.pick->labelled[0] + result.pick->labelled[1], 10);

  data.rewards = std::vector<float>(rewards.size(), std::nanf(""));
  EXPECT_THAT(refusal(run_, data, mirror_, quick()),
              HasSubstr("every episode has a reward that is not a number"));
}

TEST_F(Evaluate, ClonesOfAllAndOfTheBestStandBeside) {
  const auto result = evaluate(run_, data_, mirror_, quick(), {});
  ASSERT_EQ(result.references.size(), 2U);
  const auto& all = result.references[0];
  const auto& best = result.references[1];
  EXPECT_EQ(all.name, "all episodes");
  EXPECT_EQ(all.source_episodes, 80);
  EXPECT_NEAR(all.mean_return, 20.0 * (1.0 - 1.0 / 3.0), 1.5);  // between the two: does nothing
  EXPECT_EQ(best.name, "best 10%");
  EXPECT_EQ(best.source_episodes, 8);
  EXPECT_GT(best.mean_return, 19.5);
  ASSERT_TRUE(result.pick.has_value());
  EXPECT_EQ(static_cast<std::size_t>(result.pick->cluster), good());
}

TEST_F(Evaluate, DrawnActionsCarryThePolicysNoise) {
  auto options = quick();
  options.deterministic = false;
  options.episodes = 100;
  const auto result = evaluate(run_, data_, mirror_, options, {});
  EXPECT_NEAR(result.clusters[good()].mean_return, 20.0 * (1.0 - 0.01), 0.1);
}

TEST_F(Evaluate, DependsOnTheSeedAlone) {
  const auto options = quick();
  RunContext several;
  several.pool = std::make_shared<ThreadPool>(3);
  auto other = options;
  other.seed = 5;
  const auto once = evaluate(run_, data_, mirror_, options, {});
  EXPECT_EQ(to_json(once), to_json(evaluate(run_, data_, mirror_, options, several)));
  EXPECT_NE(to_json(once), to_json(evaluate(run_, data_, mirror_, other, {})));
}

TEST_F(Evaluate, StopsWithinASecond) {
  auto options = quick();
  options.rounds = options.continue_rounds = 10'000;
  auto acting = quick();
  acting.episodes = 1'000'000;
  for (const auto& long_one : {options, acting}) {
    const double seconds = stopping::seconds_until_end(0.3, [&](const auto& stop_requested) {
      RunContext run;
      run.stop_requested = stop_requested;
      EXPECT_THROW(evaluate(run_, data_, mirror_, long_one, run), Interrupted);
    });
    EXPECT_LT(seconds, 1.0);
  }
}

TEST_F(Evaluate, CentresCanBeTakenAsTheyAre) {
  auto options = quick();
  options.continue_rounds = 0;
  const auto result = evaluate(run_, data_, mirror_, options, {});
  EXPECT_EQ(result.policies, run_.centres);
  EXPECT_EQ(result.clusters[0].training.rounds, 0);
  EXPECT_THAT(result.origin, HasSubstr("as they are"));
}

TEST_F(Evaluate, MethodsWithoutPoliciesGetClones) {
  return_kmeans::Options options;
  options.k = 2;
  const auto run = as_loaded(return_kmeans::fit(data_, options), data_);
  auto once = quick();
  once.rounds = 1;
  const auto result = evaluate(run, data_, mirror_, once, {});
  EXPECT_THAT(result.origin, HasSubstr("the centres of return-kmeans are not policies"));
  EXPECT_GT(result.clusters[static_cast<std::size_t>(run.labels.back())].mean_return, 19.5);
}

TEST_F(Evaluate, JsonSaysEverything) {
  const auto result = evaluate(run_, data_, mirror_, quick(), {});
  const auto json = to_json(result);
  EXPECT_EQ(json["environment"], "mirror");
  ASSERT_EQ(json["clusters"].size(), 2U);
  ASSERT_EQ(json["references"].size(), 2U);
  for (const auto* list : {"clusters", "references"})
    for (const auto& row : json[list])
      for (const char* key : {"name", "episodes", "data_return", "return", "return_sd", "score",
                              "returns", "lengths", "training"})
        EXPECT_TRUE(row.contains(key)) << key;
  EXPECT_EQ(json["pick"]["cluster"], result.pick->cluster);
  EXPECT_EQ(json["pick"]["return"], json["clusters"][good()]["return"]);
  EXPECT_EQ(json["pick"]["labelled"][0].get<int>() + json["pick"]["labelled"][1].get<int>(), 10);

  auto without = quick();
  without.best = 0.0;
  without.labelled = 0;
  auto blind = data_;
  blind.rewards = {};
  const auto bare = to_json(evaluate(run_, blind, mirror_, without, {}));
  EXPECT_EQ(bare["references"].size(), 1U);
  EXPECT_TRUE(bare["pick"].is_null());
  EXPECT_TRUE(bare["clusters"][0]["data_return"].is_null());
}

TEST_F(Evaluate, ReturnsThatAreNotNumbersAreLeftOut) {
  auto data = data_;
  std::vector<float> rewards(data.rewards.begin(), data.rewards.end());
  rewards[0] = std::numeric_limits<float>::quiet_NaN();
  data.rewards = std::move(rewards);
  const auto json = to_json(evaluate(run_, data, mirror_, quick(), {}));
  for (const auto& row : json["clusters"])
    EXPECT_TRUE(std::isfinite(row["data_return"].get<double>()));
}

TEST_F(Evaluate, WhatIsSavedActsTheSame) {
  const RunFolder folder(fs::temp_directory_path() /
                         ("kindred-evaluate-" + std::to_string(::getpid())));
  fs::create_directories(folder.path());
  const auto result = evaluate(run_, data_, mirror_, quick(), {});
  save_evaluation(folder, result, to_json(result));
  EXPECT_EQ(nlohmann::ordered_json::parse(read_text(folder.evaluation())), to_json(result));
  const ArrayFileReader file(folder.policies());
  const auto loaded = std::dynamic_pointer_cast<const PolicyCentres>(load_policy_centres(file));
  ASSERT_TRUE(loaded);
  const std::vector<float> seen = {-0.5F, 0.0F, 0.7F};
  std::vector<float> was(6), is(6);
  for (std::int64_t c = 0; c < 2; ++c) {
    result.policies->distribution(c, seen, was);
    loaded->distribution(c, seen, is);
    EXPECT_EQ(was, is);
  }
  remove_tree(folder.path());
}

TEST_F(Evaluate, WhatDoesNotFitIsRefusedBeforeTraining) {
  auto never = quick();
  never.rounds = 100'000;  // refusing must not take that long
  EXPECT_THAT(refusal(run_, data_, Diagonal(), never), HasSubstr("environment 'diagonal' has 243"));
  EXPECT_THAT(refusal(run_, take_first(data_, 10), mirror_, never),
              HasSubstr("is not the dataset this run was made from"));
  EXPECT_THAT(refusal(run_, testing::mirror_data(20), mirror_, never),
              HasSubstr("it has 40 episodes, the run had 80"));
  auto blind = data_;
  blind.rewards = {};
  EXPECT_THAT(refusal(run_, blind, mirror_, never), HasSubstr("have no rewards"));
  blind.rewards = std::vector<float>(static_cast<std::size_t>(data_.steps()), 0.0F);
  EXPECT_THAT(refusal(run_, blind, mirror_, never), HasSubstr("every episode returns 0"));
  auto damaged = run_;
  damaged.labels[3] = 7;
  EXPECT_THAT(refusal(damaged, data_, mirror_, never), HasSubstr("labelled 7"));
}

}  // namespace
}  // namespace kindred
