#include "kindred/core/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST(ChildProcess, WritesToEachOfItsFiles) {
  const auto outcome = run_program(
      "/bin/sh",
      {"-c", "echo out; echo err >&2; printf %s \"$1\" >&4; printf one >&3", "sh", "a $b"}, 3, 10s);
  EXPECT_EQ(outcome.problem, "");
  EXPECT_FALSE(outcome.late);
  EXPECT_THAT(outcome.outputs, ElementsAre("one", "a $b", ""));
}

TEST(ChildProcess, HasNothingToRead) {
  EXPECT_THAT(run_program("/bin/sh", {"-c", "cat >&3"}, 1, 10s).outputs, ElementsAre(""));
}

TEST(ChildProcess, TellsHowItEnded) {
  EXPECT_EQ(run_program("/bin/sh", {"-c", "exit 3"}, 0, 10s).problem, "ended with exit code 3");
  EXPECT_EQ(run_program("/bin/sh", {"-c", "kill -9 $$"}, 0, 10s).problem, "was ended by signal 9");
  EXPECT_THROW(run_program("/no/such/program", {}, 0, 10s), IoError);
}

TEST(ChildProcess, DoesNotRunForEver) {
  const auto outcome = run_program("/bin/sh", {"-c", "printf begun >&3; exec sleep 60"}, 1, 1s);
  EXPECT_TRUE(outcome.late);
  EXPECT_EQ(outcome.problem, "took longer than 1 s");
  EXPECT_THAT(outcome.outputs, ElementsAre("begun"));
}

TEST(RunningProgram, SaysHowItEndedAndWhatItSaid) {
  RunningProgram program("/bin/sh", {"-c", "echo out; echo why >&2; exit 3"});
  const auto outcome = program.finish();
  EXPECT_EQ(outcome.problem, "ended with exit code 3");
  EXPECT_THAT(outcome.outputs, ElementsAre("why\n"));
  EXPECT_TRUE(program.has_ended());
}

TEST(RunningProgram, RunsMeanwhileAndEndsWhenAsked) {
  RunningProgram program("/bin/sh", {"-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"});
  std::this_thread::sleep_for(300ms);
  EXPECT_FALSE(program.has_ended());
  program.ask_to_end();
  EXPECT_EQ(program.finish().problem, "");
  EXPECT_THROW(RunningProgram("/no/such/program", {}), IoError);
}

TEST(ChildProcess, IsFoundInTheFoldersOfAPath) {
  EXPECT_EQ(find_program("sh", "/no/such/folder::/bin:/usr/bin"), "/bin/sh");
  EXPECT_EQ(find_program("sh", "/proc"), "");
  EXPECT_EQ(find_program("bin", "/"), "") << "a folder is no program";
  EXPECT_EQ(find_program("sh", ""), "");
}

}  // namespace
}  // namespace kindred
