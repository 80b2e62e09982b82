// What every method owes to whoever watches it: reports from one thread, and a prompt end when
// asked to stop that costs nothing but time.
#include "tests/core/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "tests/clustering/synthetic.h"
#include "tests/methods/quick_method.h"

namespace kindred {
namespace {

using testing::gridworld;
using testing::linear_control;
using testing::quick_method;

/// Every method that goes on in rounds.
std::vector<std::string> methods_with_rounds() {
  auto names = testing::method_names();
  std::erase(names, "return-kmeans");
  std::erase(names, testing::kSearched);
  std::erase(names, "policy-search");
  return names;
}

class Stopping : public ::testing::TestWithParam<std::string> {
 protected:
  ~Stopping() override { std::filesystem::remove(state_); }

  RunContext resumable(bool resume) const {
    RunContext run;
    run.pool = pool_;
    run.checkpoint = state_;
    run.resume = resume;
    return run;
  }

  const std::shared_ptr<ThreadPool> pool_ = std::make_shared<ThreadPool>(3);
  const std::filesystem::path state_ =
      std::filesystem::temp_directory_path() /
      ("kindred-stopping-" + GetParam() + std::to_string(::getpid()) + ".h5");
};

TEST_P(Stopping, ProgressIsReportedOnTheThreadThatFits) {
  std::set<std::thread::id> threads;
  std::set<std::string> stages;
  RunContext run;
  run.pool = pool_;
  run.progress = [&](const Progress& progress) {
    threads.insert(std::this_thread::get_id());
    stages.insert(progress.stage);
  };
  for (const auto& data : {linear_control({}), gridworld("diagonal", 30)})
    quick_method(GetParam(), 3)->fit(data, run);
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  EXPECT_TRUE(stages.contains("training"));
  EXPECT_TRUE(stages.contains("round"));
}

/// Stops at ever later moments: in the first round, in the middle of others, between them, in the
/// last look at everything.
TEST_P(Stopping, InTheMiddleOfARoundAndResumedEqualsStraight) {
  const std::map<std::string, std::string> options = {{"max-steps", "120"}};
  for (const auto& data : {linear_control({}), gridworld("diagonal", 50)}) {
    std::filesystem::remove(state_);
    const auto straight = quick_method(GetParam(), 3, options)->fit(data, {});
    Clustering result;
    int pieces = 0;
    double questions = 3.0;
    do {
      auto run = resumable(pieces > 0);
      run.stop_requested = stopping::after_questions(static_cast<std::int64_t>(questions));
      result = quick_method(GetParam(), 3, options)->fit(data, run);
      questions *= 1.3;
    } while (result.stopped && ++pieces < 100);
    EXPECT_GT(pieces, 5);
    EXPECT_EQ(result.labels, straight.labels);
    EXPECT_EQ(result.objective, straight.objective);
    EXPECT_EQ(result.scores.values, straight.scores.values);
    EXPECT_EQ(result.iterations, straight.iterations);
    EXPECT_EQ(result.converged, straight.converged);
    EXPECT_EQ(result.trace.size(), straight.trace.size());
  }
}

TEST_P(Stopping, BeforeTheFirstRoundHasNothingToShow) {
  auto run = resumable(false);
  run.stop_requested = [] { return true; };
  const auto result = quick_method(GetParam(), 3)->fit(linear_control({}), run);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.timings["rounds"], 0);
  EXPECT_TRUE(result.labels.empty());
  EXPECT_FALSE(std::filesystem::exists(state_));
}

TEST_P(Stopping, AfterARoundSaysHowManyAreSaved) {
  auto run = resumable(false);
  std::atomic<bool> stop{false};
  run.stop_requested = [&] { return stop.load(); };
  run.progress = [&](const Progress& progress) {
    if (progress.stage == "round" && progress.iteration == 2) stop = true;
  };
  const auto result =
      quick_method(GetParam(), 3, {{"max-steps", "200"}})->fit(linear_control({}), run);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.timings["rounds"], 2);
  EXPECT_TRUE(std::filesystem::exists(state_));
}

TEST_P(Stopping, WithinASecondOfARoundThatTakesMany) {
  const auto data = linear_control({.episodes = 400, .length = 300});
  bool stopped = false;
  std::int64_t rounds = 0;
  const double seconds = stopping::seconds_until_end(1.0, [&](const auto& stop_requested) {
    auto run = resumable(false);
    run.stop_requested = stop_requested;
    const auto result = quick_method(GetParam(), 4,
                                     {{"restarts", "10"},
                                      {"hidden", "128"},
                                      {"gru-width", "64"},
                                      {"max-steps", "2000"},
                                      {"batch-steps", "2048"}})
                            ->fit(data, run);
    stopped = result.stopped;
    rounds = result.timings["rounds"];
  });
  EXPECT_TRUE(stopped);
  EXPECT_EQ(rounds, 0) << "the case shows nothing";
  EXPECT_LT(seconds, 1.0);
}

INSTANTIATE_TEST_SUITE_P(Methods, Stopping, ::testing::ValuesIn(methods_with_rounds()),
                         [](const auto& method) { return testing::without_dashes(method.param); });

}  // namespace
}  // namespace kindred
