// Runs that are killed or stopped go on to the same result.
#include <csignal>

#include "program.h"

namespace kindred::program {
namespace {

class Interrupted : public Program {
 protected:
  const std::vector<std::string> command_ = {"cluster",    "d.h5", "-k",         "6",
                                             "--merge-to", "5",    "--restarts", "3",
                                             "--seed",     "3",    "--json",     "-o"};
  std::vector<std::string> into(const std::string& folder, bool resume = false) const {
    auto arguments = command_;
    arguments.push_back(folder);
    if (resume) arguments.push_back("--resume");
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

TEST_F(Interrupted, CtrlCSavesAndSaysHowToGoOn) {
  make_diagonal("1000");
  const auto straight = run(into("straight"));
  const pid_t child = start(into("stopped"));
  wait_for("stopped/state.h5");
  ::kill(child, SIGINT);
  const auto stopped = finish(child);
  if (stopped.code == 0) return;  // it had finished its last round by then
  EXPECT_EQ(stopped.code, 130);
  EXPECT_THAT(stopped.err, HasSubstr("--resume"));
  auto changed = into("stopped", true);
  changed[3] = "5";
  expect_bad_input(changed, "it was started with k = 6, now it is 5");
  expect_same(run(into("stopped", true)), straight);
}

}  // namespace
}  // namespace kindred::program
