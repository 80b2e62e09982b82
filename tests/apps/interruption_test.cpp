// Runs that are killed or stopped go on to the same result.
#include <csignal>
#include <cstring>

#include "program.h"

namespace kindred::program {
namespace {

class Interrupted : public Program {
 protected:
  const std::vector<std::string> command_ = {
      "cluster", "d.h5",   "-k", "6",        "--merge-to", "5",      "--restarts",
      "3",       "--seed", "3",  "--policy", "mlp",        "--json", "-o"};
  std::vector<std::string> into(const std::string& folder, bool resume = false) const {
    auto arguments = command_;
    arguments.push_back(folder);
    if (resume) arguments.emplace_back("--resume");
    return arguments;
  }
  void expect_same(const Outcome& a, const Outcome& b) const {
    ASSERT_EQ(a.code, 0) << a.err;
    ASSERT_EQ(b.code, 0) << b.err;
    EXPECT_EQ(a.last()["objective"], b.last()["objective"]);
    EXPECT_EQ(a.last()["rounds"], b.last()["rounds"]);
  }
};

TEST_F(Interrupted, KilledAndResumedEqualsStraight) {
  make_diagonal("1000");
  const auto straight = run(into("straight"));
  const pid_t child = start(into("killed"));
  wait_for("killed/state.h5");
  ::kill(child, SIGKILL);
  EXPECT_EQ(finish(child).code, -SIGKILL);
  EXPECT_FALSE(fs::exists(folder_ / "killed/run.json"));
  const auto unfinished = run({"score", "killed"});
  EXPECT_EQ(unfinished.code, 2);
  EXPECT_THAT(unfinished.err, HasSubstr("--resume"));
  expect_same(run(into("killed", true)), straight);
  EXPECT_EQ(kindred::read_text(folder_ / "killed/labels.csv"),
            kindred::read_text(folder_ / "straight/labels.csv"));
}

TEST_F(Interrupted, EverySignalToStopSavesAndSaysHowToGoOn) {
  make_diagonal("1000");
  const auto straight = run(into("straight"));
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    SCOPED_TRACE(::strsignal(number));
    fs::remove_all(folder_ / "stopped");
    const pid_t child = start(into("stopped"));
    wait_for("stopped/state.h5");
    ::kill(child, number);
    const auto stopped = finish(child);
    ASSERT_EQ(stopped.code, 128 + number) << "too late to stop it, or killed by the signal";
    EXPECT_THAT(stopped.err, HasSubstr("--resume"));
    EXPECT_FALSE(fs::exists(folder_ / "stopped/run.json"));
    expect_same(run(into("stopped", true)), straight);
  }
}

TEST_F(Interrupted, OtherOptionsAreNotResumed) {
  make_diagonal("1000");
  const pid_t child = start(into("stopped"));
  wait_for("stopped/state.h5");
  ::kill(child, SIGKILL);
  finish(child);
  auto changed = into("stopped", true);
  changed[3] = "5";
  expect_bad_input(changed, "it was started with k = 6, now it is 5");
}

TEST_F(Interrupted, TwoRunsIntoOneFolderTakeTurns) {
  make_diagonal("1000");
  const pid_t first = start(into("shared"));
  wait_for("shared/state.h5");
  const auto second = run({"cluster", "d.h5", "-k", "2", "-o", "shared"});
  EXPECT_EQ(second.code, 2);
  EXPECT_THAT(second.err, HasSubstr("another process is at work in the run folder 'shared'"));
  ::kill(first, SIGKILL);
  finish(first);
}

}  // namespace
}  // namespace kindred::program
