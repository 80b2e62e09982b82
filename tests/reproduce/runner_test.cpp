// The runner: what is stored is not done again, and what fails fails alone. Shells stand for the
// program.
#include "kindred/reproduce/runner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>

#include "kindred/core/error.h"
#include "temporary_store.h"

namespace kindred::reproduce {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunnerTest : public testing::WithStore {
 protected:
  RunnerTest() : store_(folder_ / "store", Scale::kSmall), lock_(store_.begin_work()) {}

  static Job job(const std::string& task, bool gpu = false) {
    Job one{task, "method", 1, {}, gpu};
    one.outputs = {{Output::Kind::kClustering, one.name()}};
    return one;
  }

  /// Runs `script` for each job; $1 is where its record belongs, $2 a place for notes, $3 the
  /// device.
  RunnerOutcome run(const std::vector<Job>& jobs, const std::string& script,
                    std::int64_t at_once = 2) {
    return run(jobs, script, std::vector<Lane>{{"cpu", at_once, 1}});
  }

  RunnerOutcome run(const std::vector<Job>& jobs, const std::string& script,
                    const std::vector<Lane>& lanes, double within = 0.0) {
    RunnerOptions options;
    options.program = "/bin/sh";
    options.arguments = [&](const Job& one, const Lane& lane) {
      return std::vector<std::string>{"-c",
                                      script,
                                      "sh",
                                      (store_.folder() / (one.name() + ".json")).string(),
                                      (folder_ / one.name()).string(),
                                      lane.device};
    };
    options.lanes = lanes;
    options.within = within;
    options.stop_requested = [this] { return stop_.load(); };
    options.watch = [this](const Overview& now) {
      if (!now.news.empty()) news_.push_back(now.news);
      most_running_ = std::max(most_running_, std::ssize(now.running));
    };
    return run_jobs(jobs, store_, options);
  }

  Store store_;
  std::unique_ptr<RunLock> lock_;
  std::atomic<bool> stop_{false};
  std::vector<std::string> news_;
  std::ptrdiff_t most_running_ = 0;
};

TEST_F(RunnerTest, DoesWhatIsNotStored) {
  store_.write("b-method-1", {{"x", 1}});
  const auto outcome = run({job("a"), job("b"), job("c")}, "echo '{}' > $1; touch $2");
  EXPECT_EQ(outcome.done, 2);
  EXPECT_EQ(outcome.stored, 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b-method-1")) << "was stored, and done again";
  const auto again = run({job("a"), job("b"), job("c")}, "exit 1");
  EXPECT_EQ(again.stored, 3);
  EXPECT_TRUE(again.failed.empty());
}

TEST_F(RunnerTest, DoesSeveralAtOnceButNoMore) {
  run({job("a"), job("b"), job("c"), job("d")}, "sleep 0.2; echo '{}' > $1", 2);
  EXPECT_EQ(most_running_, 2);
}

TEST_F(RunnerTest, BeginsJobsInTheirOrder) {
  run({job("b"), job("a"), job("c")}, "echo '{}' > $1", 1);
  EXPECT_THAT(news_, ElementsAre(HasSubstr("b-method-1"), HasSubstr("a-method-1"),
                                 HasSubstr("c-method-1")));
}

TEST_F(RunnerTest, LetsJobsOnTheGpuAndTheOthersGoBesideEachOther) {
  const auto outcome =
      run({job("a", true), job("b", true), job("c"), job("d")},
          "sleep 0.2; echo \"{\\\"device\\\": \\\"$3\\\"}\" > $1", {{"cuda", 1, 1}, {"cpu", 2, 1}});
  EXPECT_EQ(outcome.done, 4);
  EXPECT_EQ(most_running_, 3) << "one on the GPU, two on the CPU";
  EXPECT_EQ(store_.read("a-method-1")["device"], "cuda");
  EXPECT_EQ(store_.read("c-method-1")["device"], "cpu");
}

TEST_F(RunnerTest, BeginsNothingThatWouldNotEndInTime) {
  // By the first, the others would take two seconds each, which are not left.
  const auto outcome =
      run({job("a"), job("b"), job("c")},
          "touch $2; case $1 in */a-*) sleep 2;; esac; echo '{}' > $1", {{"cpu", 1, 1}}, 3.5);
  EXPECT_EQ(outcome.done, 1);
  EXPECT_EQ(outcome.left, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b-method-1"));
  EXPECT_TRUE(outcome.out_of_time);
  EXPECT_FALSE(outcome.stopped);
  EXPECT_TRUE(outcome.failed.empty());
}

TEST_F(RunnerTest, EndsWhatStillRunsWhenTheTimeIsOver) {
  const auto outcome = run({job("a"), job("b")}, "exec sleep 60", {{"cpu", 1, 1}}, 0.5);
  EXPECT_EQ(outcome.left, 2);
  EXPECT_TRUE(outcome.out_of_time);
  EXPECT_TRUE(outcome.failed.empty());
}

TEST(Lanes, ShareTheMachine) {
  std::vector<Job> jobs(20, Job{"task", "exact", 1, {}, false});
  jobs.resize(40, Job{"task", "caae", 1, {}, true});
  const Machine large{16, 128'000.0};
  const auto describe = [](const std::vector<Lane>& lanes) {
    std::string text;
    for (const auto& lane : lanes)
      text += fmt::format("{}: {} x {}; ", lane.device, lane.at_once, lane.threads);
    return text;
  };
  EXPECT_EQ(describe(lanes_for(jobs, large, "cuda", 0, 0)), "cuda: 8 x 1; cpu: 8 x 1; ");
  EXPECT_EQ(describe(lanes_for(jobs, large, "cuda", 4, 0)), "cuda: 4 x 1; cpu: 12 x 1; ");
  EXPECT_EQ(describe(lanes_for(jobs, large, "cpu", 0, 0)), "cpu: 16 x 1; ");
  EXPECT_EQ(describe(lanes_for(jobs, large, "cpu", 4, 0)), "cpu: 4 x 4; ");
  EXPECT_EQ(describe(lanes_for(jobs, large, "cpu", 4, 2)), "cpu: 4 x 2; ");
  EXPECT_EQ(describe(lanes_for(jobs, {16, 5000.0}, "cuda", 0, 0)), "cuda: 4 x 3; cpu: 1 x 3; ");
  EXPECT_EQ(describe(lanes_for(jobs, {16, 5000.0}, "cuda", 8, 0)), "cuda: 8 x 1; cpu: 8 x 1; ");
  EXPECT_EQ(describe(lanes_for(jobs, {2, 24'000.0}, "cuda", 0, 0)), "cuda: 1 x 1; cpu: 1 x 1; ");
  jobs.erase(jobs.begin(), jobs.begin() + 37);
  EXPECT_EQ(describe(lanes_for(jobs, large, "cuda", 0, 0)), "cuda: 3 x 5; ");
  EXPECT_TRUE(lanes_for({}, large, "cuda", 0, 0).empty());
}

TEST_F(RunnerTest, TriesAKilledChildOnceMore) {
  const auto outcome =
      run({job("a"), job("b")}, "[ -e $2 ] || { touch $2; kill -9 $$; }; echo '{}' > $1");
  EXPECT_EQ(outcome.done, 2);
  EXPECT_TRUE(outcome.failed.empty());
  EXPECT_THAT(news_, Contains(HasSubstr("was ended by signal 9; it will be tried once more")));
}

TEST_F(RunnerTest, TellsWhatFailsAndGoesOn) {
  const auto outcome =
      run({job("a"), job("b")},
          "case $1 in */a-*) echo 'kindred: no such thing' >&2; exit 2;; esac; echo '{}' > $1", 1);
  EXPECT_EQ(outcome.done, 1);
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(outcome.failed[0].job, "a-method-1");
  EXPECT_EQ(outcome.failed[0].why, "kindred: no such thing");
}

TEST_F(RunnerTest, DoesNotBelieveAChildWithoutARecord) {
  const auto outcome = run({job("a")}, "exit 0");
  ASSERT_EQ(outcome.failed.size(), 1U);
  EXPECT_EQ(outcome.failed[0].why, "left no record");
}

TEST_F(RunnerTest, StopsChildrenWhenAskedTo) {
  stop_ = false;
  RunnerOptions options;
  options.program = "/bin/sh";
  options.arguments = [](const Job&, const Lane&) {
    return std::vector<std::string>{"-c", "exec sleep 60"};
  };
  options.stop_requested = [this] { return stop_.load(); };
  options.watch = [this](const Overview& now) { stop_ = !now.running.empty(); };
  const auto outcome = run_jobs({job("a"), job("b")}, store_, options);
  EXPECT_TRUE(outcome.stopped);
  EXPECT_EQ(outcome.left, 2);
  EXPECT_TRUE(outcome.failed.empty());
}

TEST_F(RunnerTest, EndsWhereTheDiskIsFull) {
  // A limit on the size of files ends a write as a full disk does, in the middle.
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{1024, before.rlim_max};
  store_.write("a-method-1", {{"x", 1}});
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const auto outcome = run({job("a"), job("b"), job("c")}, "exit 2", 1);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(outcome.disk_full);
  EXPECT_EQ(outcome.left, 2);
  EXPECT_EQ(store_.read("a-method-1")["x"], 1);
  EXPECT_EQ(run({job("a"), job("b"), job("c")}, "echo '{}' > $1").done, 2) << "it goes on";
}

}  // namespace
}  // namespace kindred::reproduce
