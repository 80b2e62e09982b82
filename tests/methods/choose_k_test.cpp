// Methods that are given k = "auto": the held-out score chooses for them.
#include <gtest/gtest.h>

#include <set>

#include "kindred/core/error.h"
#include "kindred/metrics/clustering_scores.h"
#include "tests/clustering/synthetic.h"
#include "tests/methods/quick_method.h"

namespace kindred {
namespace {

using testing::linear_control;
using testing::quick_method;

/// Every policy has returns of its own, so that Return+KMeans can find it.
Trajectories by_return(std::int64_t policies) {
  return linear_control({.episodes = 10 * policies, .obs_dim = 4, .policies = policies});
}

std::unique_ptr<ConfiguredMethod> automatic(const std::string& name,
                                            std::map<std::string, std::string> options = {}) {
  options.insert({"k", "auto"});
  return quick_method(name, 0, options);
}

std::string message_of_check(ConfiguredMethod& method, const Trajectories& data) {
  try {
    method.check(data, {}, {});
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(ChooseK, FindsAsManyClustersAsThereArePolicies) {
  for (const std::int64_t policies : {1, 2, 4}) {
    const auto data = by_return(policies);
    const auto result = automatic("return-kmeans")->fit(data, {});
    EXPECT_EQ(result.k(), policies);
    EXPECT_TRUE(result.k_found);
    EXPECT_EQ(normalized_mutual_information(result.labels, data.labels.span()), 1.0);
    EXPECT_EQ(result.options["k"], "auto");
    EXPECT_EQ(result.options["k-max"], 12);
  }
}

TEST(ChooseK, SaysWhatWasConsidered) {
  const auto data = by_return(4);
  const auto result = automatic("return-kmeans")->fit(data, {});
  ASSERT_GE(result.considered.size(), 4u);
  for (std::size_t i = 0; i < result.considered.size(); ++i) {
    EXPECT_EQ(result.considered[i].k, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(result.considered[i].agreement, 1.0);
  }
  const auto& chosen = result.considered[3];
  EXPECT_EQ(chosen.relations.different, 6);
  EXPECT_GE(chosen.conflict, 4.0);
  EXPECT_GT(chosen.gain, chosen.gain_error);
  ASSERT_TRUE(result.judgement);
  EXPECT_EQ(result.judgement->v, chosen.v);
  EXPECT_EQ(result.judgement->v_of_one, result.considered[0].v);
  EXPECT_EQ(result.judgement->judged, data.episodes());
}

TEST(ChooseK, GivesTheClustersOfTheChosenNumber) {
  const auto data = by_return(3);
  const auto found = automatic("return-kmeans")->fit(data, {});
  const auto asked = quick_method("return-kmeans", 3)->fit(data, {});
  EXPECT_EQ(found.labels, asked.labels);
  EXPECT_EQ(found.scores.values, asked.scores.values);
  EXPECT_FALSE(asked.k_found);
  EXPECT_TRUE(asked.considered.empty());
}

TEST(ChooseK, KMaxIsTheMostThatAreTried) {
  const auto result = automatic("return-kmeans", {{"k-max", "3"}})->fit(by_return(5), {});
  EXPECT_EQ(result.considered.back().k, 3);
  EXPECT_LE(result.k(), 3);
}

TEST(ChooseK, EndsWhereMoreClustersPredictNoBetter) {
  std::set<std::string> stages;
  RunContext run;
  run.progress = [&](const Progress& progress) { stages.insert(progress.stage); };
  automatic("return-kmeans", {{"k-max", "20"}})->fit(by_return(2), run);
  EXPECT_TRUE(stages.contains("fitting 2 clusters"));
  EXPECT_FALSE(stages.contains("fitting 20 clusters"));
}

TEST(ChooseK, EveryMethodCanBeAsked) {
  const auto data = linear_control({.episodes = 24, .length = 30, .policies = 2});
  for (const auto& name : testing::method_names()) {
    if (name == "pg-kmeans") continue;  // as the paper has it, it needs the number
    const auto result = automatic(name, {{"k-max", "2"}})->fit(data, {});
    EXPECT_TRUE(result.k_found) << name;
    EXPECT_GE(result.k(), 1) << name;
    EXPECT_LE(result.k(), 2) << name;
    EXPECT_EQ(result.considered.front().k, 1) << name;
    ASSERT_TRUE(result.judgement) << name;
    EXPECT_EQ(result.judgement->v_of_one, result.considered.front().v) << name;
    EXPECT_EQ(static_cast<std::int64_t>(result.labels.size()), data.episodes()) << name;
  }
}

TEST(ChooseK, TheNumberThatIsMergedToCannotBeLeftOpen) {
  const auto method = automatic("vae-kmeans", {{"merge-to", "2"}});
  EXPECT_EQ(message_of_check(*method, by_return(2)),
            "merge-to is 2, but k is to be found; give k, or leave out merge-to");
}

TEST(ChooseK, ObservationsTooWideToJudgeAreRefused) {
  const auto data = linear_control({.episodes = 10, .length = 10, .obs_dim = 200});
  EXPECT_EQ(message_of_check(*automatic("vae-kmeans"), data),
            "200 numbers per observation are too many to find out how many clusters there are; "
            "give their number with -k");
  EXPECT_EQ(message_of_check(*quick_method("vae-kmeans", 2), data), "");
}

TEST(ChooseK, NothingIsSavedThatCouldBeResumed) {
  const auto data = by_return(2);
  RunContext run;
  run.stop_requested = [] { return true; };
  EXPECT_TRUE(automatic("vae-kmeans")->fit(data, run).stopped);
  RunContext again;
  again.resume = true;
  EXPECT_THROW(automatic("vae-kmeans")->fit(data, again), InvalidArgument);
}

}  // namespace
}  // namespace kindred
