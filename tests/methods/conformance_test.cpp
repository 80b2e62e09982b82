// What every method must do, whatever it computes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <set>

#include "kindred/core/error.h"
#include "tests/clustering/synthetic.h"
#include "tests/methods/quick_method.h"

namespace kindred {
namespace {

using testing::gridworld;
using testing::linear_control;
using testing::without_interning;

void expect_consistent(const Clustering& result, const Trajectories& data) {
  ASSERT_EQ(static_cast<std::int64_t>(result.labels.size()), data.episodes());
  EXPECT_EQ(result.scores.rows, data.episodes());
  EXPECT_EQ(result.scores.columns, result.centres->count());
  const std::set<std::int32_t> used(result.labels.begin(), result.labels.end());
  EXPECT_EQ(*used.begin(), 0);
  EXPECT_EQ(*used.rbegin(), static_cast<std::int32_t>(used.size()) - 1);
  EXPECT_EQ(static_cast<std::int64_t>(used.size()), result.k());
  EXPECT_FALSE(result.trace.empty());
  EXPECT_FALSE(result.restarts.empty());
  EXPECT_FALSE(result.options.empty());
  const auto again = result.centres->score(data, {});
  for (std::size_t i = 0; i < again.values.size(); ++i)
    ASSERT_NEAR(again.values[i], result.scores.values[i], 1e-3 * (1.0 + std::abs(again.values[i])));
}

class MethodConformance : public ::testing::TestWithParam<std::string> {
 protected:
  Clustering fit(const Trajectories& data, std::int64_t k, const RunContext& run = {},
                 const std::map<std::string, std::string>& options = {}) {
    return testing::quick_method(GetParam(), k, options)->fit(data, run);
  }

  /// Where networks draw from a part of the data at a time.
  Clustering fit_from_buffer(const Trajectories& data, const RunContext& run = {}) {
    return fit(data, 3, run, {{"buffer-steps", std::to_string(data.steps() / 4)}});
  }
};

TEST_P(MethodConformance, ShapesAndConsecutiveLabels) {
  for (const auto& data : {linear_control({}), gridworld("diagonal", 30),
                           without_interning(gridworld("takeball", 20))})
    expect_consistent(fit(data, 3), data);
}

TEST_P(MethodConformance, SameSeedSameResult) {
  const auto data = linear_control({});
  const auto a = fit(data, 3);
  const auto b = fit(data, 3);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.scores.values, b.scores.values);
}

TEST_P(MethodConformance, OneCluster) {
  const auto data = linear_control({});
  const auto result = fit(data, 1);
  EXPECT_EQ(result.k(), 1);
  EXPECT_EQ(result.labels, std::vector<std::int32_t>(result.labels.size(), 0));
}

TEST_P(MethodConformance, AsManyClustersAsEpisodes) {
  const auto data = linear_control({.episodes = 4, .length = 5});
  expect_consistent(fit(data, 4), data);
}

TEST_P(MethodConformance, MoreClustersThanEpisodesIsAnError) {
  EXPECT_THROW(fit(linear_control({.episodes = 2}), 3), InvalidArgument);
}

TEST_P(MethodConformance, SingleStepEpisodes) {
  auto data = linear_control({.episodes = 30, .length = 3});
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i <= data.steps(); ++i) offsets.push_back(i);
  data.ids.assign(static_cast<std::size_t>(data.steps()), "");
  for (std::size_t i = 0; i < data.ids.size(); ++i) data.ids[i] = std::to_string(i);
  data.labels = {};
  data.offsets = offsets;
  expect_consistent(fit(data, 2), data);
}

TEST_P(MethodConformance, ConstantActionsAndOneDimensionalObservations) {
  auto data = linear_control({.episodes = 12, .length = 10, .obs_dim = 1, .act_dim = 1});
  expect_consistent(fit(data, 2), data);
  data.actions =
      Actions::continuous(std::vector<float>(static_cast<std::size_t>(data.steps()), 0.5F), 1);
  expect_consistent(fit(data, 2), data);
}

TEST_P(MethodConformance, ConstantObservations) {
  auto data = linear_control({.episodes = 12, .length = 10});
  data.observations = Observations::dense(
      Column<float>(std::vector<float>(static_cast<std::size_t>(data.steps() * 3), 1.0F)), 3);
  expect_consistent(fit(data, 2), data);
}

TEST_P(MethodConformance, RewardsThatAreNotNumbersMatterOnlyToReturns) {
  auto data = linear_control({.episodes = 6, .length = 10});
  std::vector<float> rewards(data.rewards.begin(), data.rewards.end());
  rewards[static_cast<std::size_t>(data.offsets[4])] = std::numeric_limits<float>::quiet_NaN();
  data.rewards = rewards;
  if (GetParam() != "return-kmeans") return expect_consistent(fit(data, 2), data);
  try {
    fit(data, 2);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "the return of episode 4 ('4') is nan, so return-kmeans cannot place it; repair "
                 "its rewards");
  }
}

TEST_P(MethodConformance, StoppedAndResumedEqualsStraight) {
  const auto state = std::filesystem::temp_directory_path() /
                     ("kindred-" + GetParam() + std::to_string(::getpid()) + ".h5");
  for (const auto& data : {linear_control({}), gridworld("diagonal", 50)}) {
    std::filesystem::remove(state);
    const auto straight = fit(data, 3);
    RunContext run;
    run.checkpoint = state;
    std::atomic<bool> stop;
    run.stop_requested = [&] { return stop.load(); };
    run.progress = [&](const Progress& progress) { stop = progress.stage == "round"; };
    Clustering result;
    result.stopped = true;
    for (int pieces = 0; result.stopped && pieces < 100; ++pieces, run.resume = true) {
      stop = false;
      result = fit(data, 3, run);
    }
    EXPECT_FALSE(result.stopped);
    EXPECT_EQ(result.labels, straight.labels);
    EXPECT_EQ(result.objective, straight.objective);
    EXPECT_EQ(result.scores.values, straight.scores.values);
    EXPECT_EQ(result.iterations, straight.iterations);
  }
  std::filesystem::remove(state);
}

TEST_P(MethodConformance, ABufferIsTheSameOnAnyThreadsAndAfterAStop) {
  const auto table = testing::quick_method(GetParam(), 3)->describe();
  if (!find_option(table, "buffer-steps")) GTEST_SKIP() << "it goes through the data in order";
  const auto data = linear_control({});
  const auto straight = fit_from_buffer(data);
  EXPECT_EQ(straight.options.at("buffer-steps"), data.steps() / 4);
  EXPECT_EQ(fit(data, 3).options.at("buffer-steps"), 0);
  const bool trains_networks = GetParam() != testing::kSearched;
  EXPECT_EQ(fit(data, 3).scores.values != straight.scores.values, trains_networks);
  RunContext run;
  run.pool = std::make_shared<ThreadPool>(3);
  EXPECT_EQ(fit_from_buffer(data, run).scores.values, straight.scores.values);

  run.checkpoint = std::filesystem::temp_directory_path() /
                   ("kindred-buffer-" + GetParam() + std::to_string(::getpid()) + ".h5");
  std::atomic<bool> stop;
  run.stop_requested = [&] { return stop.load(); };
  run.progress = [&](const Progress& progress) { stop = progress.stage == "round"; };
  Clustering result;
  result.stopped = true;
  for (int pieces = 0; result.stopped && pieces < 100; ++pieces, run.resume = true) {
    stop = false;
    result = fit_from_buffer(data, run);
  }
  EXPECT_EQ(result.labels, straight.labels);
  EXPECT_EQ(result.scores.values, straight.scores.values);
  std::filesystem::remove(run.checkpoint);
}

/// A fit stopped after its first round; nothing is left where the method keeps no state.
class InterruptedFit {
 public:
  InterruptedFit(const std::string& method, const Trajectories& data)
      : method_(method),
        name_("kindred-interrupted-" + method + std::to_string(::getpid()) + ".h5") {
    run_.checkpoint = std::filesystem::temp_directory_path() / name_;
    std::atomic<bool> done_a_round = false;
    run_.progress = [&](const Progress& progress) { done_a_round = progress.stage == "round"; };
    run_.stop_requested = [&] { return done_a_round.load(); };
    testing::quick_method(method_, 3)->fit(data, run_);
    run_.progress = {};
    run_.stop_requested = {};
    run_.resume = true;
  }
  ~InterruptedFit() { std::filesystem::remove(run_.checkpoint); }

  bool left_a_state() const { return std::filesystem::exists(run_.checkpoint); }
  const std::filesystem::path& state() const { return run_.checkpoint; }
  void resume(const Trajectories& data) const {
    testing::quick_method(method_, 3)->fit(data, run_);
  }

 private:
  std::string method_, name_;
  RunContext run_;
};

TEST_P(MethodConformance, OtherDataOfTheSameShapeIsNotResumed) {
  const InterruptedFit fit(GetParam(), linear_control({}));
  if (!fit.left_a_state()) GTEST_SKIP() << "*** NOT TESTED: this method keeps no state";
  try {
    fit.resume(linear_control({}, 2));
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(std::string(error.what()).rfind("'the data' is not the dataset", 0), 0U)
        << error.what();
  }
}

TEST_P(MethodConformance, AStateWithoutItsArraysIsDamaged) {
  const auto data = linear_control({});
  const InterruptedFit fit(GetParam(), data);
  if (!fit.left_a_state()) GTEST_SKIP() << "*** NOT TESTED: this method keeps no state";
  const ArrayFileReader whole(fit.state());
  const auto header = whole.read_text("header");
  const auto state = whole.read_text("state");
  ArrayFileWriter part(fit.state());
  part.write_text("header", header);
  part.write_text("state", state);
  part.close();
  EXPECT_THROW(fit.resume(data), DataFormatError);
}

TEST_P(MethodConformance, CentresRejectOtherData) {
  const auto result = fit(linear_control({}), 2);
  if (GetParam() == "return-kmeans") return;  // it looks at neither observations nor actions
  EXPECT_THROW(result.centres->score(linear_control({.obs_dim = 4}), {}), DataFormatError);
}

TEST(Methods, ReturnKmeansRefusesAGpu) {
  RunContext run;
  run.device = "cuda";
  EXPECT_THROW(testing::quick_method("return-kmeans", 2)->fit(linear_control({}), run),
               InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Methods, MethodConformance, ::testing::ValuesIn(testing::method_names()),
                         [](const auto& method) { return testing::without_dashes(method.param); });

TEST(Methods, UnknownNameListsThoseThereAre) {
  try {
    find_method("kmeans");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "there is no method 'kmeans'; the methods are policy-search, pg-kmeans, caae, "
                 "dec, vae-kmeans, vq-vae, sorl, return-kmeans");
  }
}

}  // namespace
}  // namespace kindred
