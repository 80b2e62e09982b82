// The runner: what is stored is not done again, and what fails fails alone. Shells stand for the
// program.
#include "kindred/reproduce/runner.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>

#include "kindred/core/error.h"
#include "temporary_store.h"

namespace kindred::reproduce {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class RunnerTest : public testing::WithStore {
 protected:
  RunnerTest() : store_(folder_ / "store", Scale::kSmall), lock_(store_.begin_work()) {}

  static Job job(const std::string& task) {
    Job one{task, "method", 1, {}};
    one.outputs = {{Output::Kind::kClustering, one.name()}};
    return one;
  }

  /// Runs `script` for each job; $1 is where its record belongs, $2 a place for notes.
  RunnerOutcome run(const std::vector<Job>& jobs, const std::string& script,
                    std::int64_t at_once = 2) {
    RunnerOptions options;
    options.program = "/bin/sh";
    options.arguments = [&](const Job& one) {
      return std::vector<std::string>{"-c", script, "sh",
                                      (store_.folder() / (one.name() + ".json")).string(),
                                      (folder_ / one.name()).string()};
    };
    options.at_once = at_once;
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
  options.arguments = [](const Job&) { return std::vector<std::string>{"-c", "exec sleep 60"}; };
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
