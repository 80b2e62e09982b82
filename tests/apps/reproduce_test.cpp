// kindred reproduce, end to end at small scale.
#include <sys/resource.h>

#include <csignal>

#include "program.h"

namespace kindred::program {
namespace {

using Reproduce = Program;
using ::testing::AllOf;

const std::vector<std::string> kOne = {
    "reproduce",        "main",  "--scale", "small", "--tasks", "diagonal",
    "--configurations", "exact", "--store", "store", "--json"};

TEST_F(Reproduce, ListsItsItems) {
  const auto outcome = run({"reproduce", "--list", "--scale", "small", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.last()[0]["item"], "main");
  EXPECT_EQ(outcome.last()[0]["stored"], 0);
  EXPECT_FALSE(fs::exists(folder_ / "kindred-results")) << "looking makes nothing";
}

TEST_F(Reproduce, MeasuresRendersAndDoesNothingTwice) {
  const auto first = run(kOne);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.last()["done"], 2);
  EXPECT_THAT(first.err, HasSubstr("diagonal-exact-301: "));
  const auto record = json::parse(kindred::read_text(folder_ / "store/diagonal-exact-301.json"));
  EXPECT_GT(record["result"]["nmi"], 0.8);
  EXPECT_EQ(record["options"]["seed"], 301);
  EXPECT_FALSE(record.contains("trace"));
  EXPECT_TRUE(fs::is_empty(folder_ / "store/.work"));
  const auto again = run(kOne);
  EXPECT_EQ(again.last()["done"], 0);
  EXPECT_EQ(again.last()["stored_before"], 2);

  const std::vector<std::string> render = {"reproduce", "--render", "--scale",
                                           "small",     "--store",  "store"};
  ASSERT_EQ(run(render).code, 0);
  EXPECT_THAT(kindred::read_text(folder_ / "store.md"),
              AllOf(HasSubstr("# Results at small scale"), HasSubstr("| diagonal | exact |")));
  auto check = render;
  check.emplace_back("--check");
  EXPECT_EQ(run(check).code, 0) << "the same records make the same page";
  fs::remove(folder_ / "store/diagonal-exact-301.json");
  expect_bad_input(check, "is not what the records say");
}

TEST_F(Reproduce, SaysHowManyJobsSharedTheMachine) {
  auto command = kOne;
  command.insert(command.end(), {"--jobs", "2", "--threads", "1"});
  ASSERT_EQ(run(command).code, 0);
  const auto machine =
      json::parse(kindred::read_text(folder_ / "store/diagonal-exact-301.json"))["machine"];
  EXPECT_EQ(machine["jobs_at_once"], 2);
  EXPECT_EQ(machine["jobs_on_device"], 2);
  EXPECT_EQ(machine["device"], "cpu");
  EXPECT_FALSE(machine.contains("gpu"));
}

TEST_F(Reproduce, EvaluatesPolicies) {
  const auto outcome = run(
      {"reproduce", "downstream", "--scale", "small", "--tasks", "own-hopper", "--store", "store"});
  if (outcome.err.find("cannot make the environment") != std::string::npos)
    GTEST_SKIP() << "*** NOT TESTED: this build has no MuJoCo";
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto record = json::parse(
      kindred::read_text(folder_ / "store/own-hopper-exact-301-evaluated-downstream-0.json"));
  ASSERT_EQ(record["references"].size(), 3U);
  EXPECT_EQ(record["references"][2]["name"], "weighted");
  EXPECT_TRUE(record["pick"]["score"].is_number());
}

TEST_F(Reproduce, GoesOnAfterAKill) {
  std::vector<std::string> two = {"reproduce",
                                  "main",
                                  "--scale",
                                  "small",
                                  "--tasks",
                                  "diagonal,takeball",
                                  "--configurations",
                                  "exact,pg-kmeans",
                                  "--store",
                                  "store",
                                  "--jobs",
                                  "1",
                                  "--json"};
  const pid_t child = start(two);
  wait_for("store/diagonal-pg-kmeans-1.json");
  ::kill(child, SIGKILL);
  finish(child);
  const auto kept = kindred::read_text(folder_ / "store/diagonal-pg-kmeans-1.json");
  // The orphan ends by itself; until then it keeps others out of its folder, not out of the store.
  const auto outcome = run(two);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GE(outcome.last()["stored_before"], 1);
  EXPECT_EQ(kindred::read_text(folder_ / "store/diagonal-pg-kmeans-1.json"), kept);
  for (const char* name : {"diagonal-exact-301", "diagonal-pg-kmeans-2", "takeball-exact-302"})
    EXPECT_TRUE(fs::exists(folder_ / "store" / (std::string(name) + ".json"))) << name;
}

TEST_F(Reproduce, MethodsWithoutSeedsNeedNone) {
  const auto outcome = run({"reproduce", "main", "--scale", "small", "--tasks", "hopper",
                            "--configurations", "return-kmeans", "--store", "store", "--json"});
  if (outcome.err.find("cannot make the environment") != std::string::npos)
    GTEST_SKIP() << "*** NOT TESTED: this build has no MuJoCo";
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.last()["done"], 2);
}

TEST_F(Reproduce, EndsWhereTheDiskIsFull) {
  // A limit on the size of files ends a write as a full disk does; children inherit it.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{2048, 2048};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(finish(start(kOne)).code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_THAT(kindred::read_text(folder_ / "stderr.txt"),
              HasSubstr("is the disk full? 0 done and kept, 2 left; the same command goes on"));
  EXPECT_FALSE(fs::exists(folder_ / "store/diagonal-exact-301.json"));
  const auto after = run(kOne);
  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_EQ(after.last()["done"], 2);
}

TEST_F(Reproduce, SaysWhatIsWrong) {
  expect_bad_input({"reproduce", "mian", "--scale", "small"}, "there is no item 'mian'");
  expect_bad_input({"reproduce", "main", "--scale", "huge"}, "there is no scale 'huge'");
  expect_bad_input({"reproduce"}, "name an item, or --render");
  expect_bad_input({"reproduce", "main", "--scale", "small", "--tasks", "x"},
                   "there is no task 'x'");
  expect_bad_input({"reproduce", "main", "--scale", "small", "--within", "soon"},
                   "'soon' is no time; write it as 90s, 9m or 2h");
  kindred::write_text(folder_ / "mine.txt", "");
  expect_bad_input({"reproduce", "main", "--scale", "small", "--store", "."}, "holds other things");
  ASSERT_EQ(run(kOne).code, 0);
  expect_bad_input({"reproduce", "main", "--scale", "paper", "--store", "store"},
                   "holds results of scale 'small'");
}

TEST_F(Reproduce, LeavesOutWhatHasNoData) {
  const auto outcome = run({"reproduce", "main", "--scale", "paper", "--tasks", "hopper", "--seeds",
                            "1", "--files", "nowhere", "--store", "store", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("hopper: NOT RUN: there is no 'nowhere/hopper-medium-expert.hdf5'"));
  EXPECT_EQ(outcome.last()["done"], 0);
}

}  // namespace
}  // namespace kindred::program
