// kindred conflicts and kindred colouring, as they are typed.
#include "kindred/core/files.h"
#include "program.h"

namespace kindred::program {
namespace {

using ::testing::Not;
using ::testing::StartsWith;

class Conflicts : public Program {
 protected:
  void make(const std::string& graph, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"colouring", graph, "-o", "g.h5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto made = run(arguments);
    ASSERT_EQ(made.code, 0) << made.err;
  }
};

TEST_F(Conflicts, OfDiagonal) {
  make_diagonal();
  const auto found = run({"conflicts", "d.h5", "-o", "found", "--pairs", "50", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  auto said = found.last();
  EXPECT_EQ(said["at_least"], 5);
  EXPECT_EQ(said["at_most"], 5);
  EXPECT_EQ(said["contradict"], 0);
  EXPECT_GT(said["nmi"], 0.8);
  for (const auto& policy : said["true_policies"]) EXPECT_EQ(policy["conflicts"], 0.0);
  EXPECT_THAT(found.err, HasSubstr("5 deterministic policies can have made these trajectories"));
  for (std::size_t begin = 0; begin < found.err.size();) {
    const auto end = found.err.find('\n', begin);
    EXPECT_LE(end - begin, 80u) << found.err.substr(begin, end - begin);
    begin = end + 1;
  }
  const auto pairs = read_text(folder_ / "found/pairs.csv");
  EXPECT_THAT(pairs, StartsWith("episode,other,step,other_step,state,action,other_action\n"));
  EXPECT_EQ(std::ranges::count(pairs, '\n'), 51);
  EXPECT_EQ(std::ranges::count(read_text(folder_ / "found/colouring.csv"), '\n'), 1001);
  EXPECT_EQ(std::ranges::count(read_text(folder_ / "found/contradictions.csv"), '\n'), 1);
  EXPECT_THAT(read_text(folder_ / "found/graph.svg"), HasSubstr("0 within a policy"));
  said.erase("seconds");
  EXPECT_EQ(json::parse(read_text(folder_ / "found/conflicts.json")), said);
  // Its own division is one without conflicts.
  const auto again = run({"conflicts", "d.h5", "--labels", "found/colouring.csv", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.last()["clusters"].size(), 5u);
  EXPECT_THAT(again.err, HasSubstr("5 groups without a conflict inside"));
  const auto other = run({"conflicts", "d.h5", "-o", "other", "--pairs", "50", "--threads", "1"});
  EXPECT_EQ(read_text(folder_ / "other/pairs.csv"), pairs) << "the same pairs on any machine";
}

TEST_F(Conflicts, OfARunsClusters) {
  make("complete-4", {"--copies", "20"});
  ASSERT_EQ(run({"cluster", "g.h5", "-k", "1", "-o", "one"}).code, 0);
  const auto bad = run({"conflicts", "g.h5", "--run", "one", "--json"});
  ASSERT_EQ(bad.code, 0) << bad.err;
  EXPECT_EQ(bad.last()["clusters"][0]["conflicts"], 6 * 20 * 20);
  EXPECT_THAT(bad.err, HasSubstr("1 of them with conflicts inside"));
  ASSERT_EQ(run({"cluster", "g.h5", "-k", "4", "-o", "four"}).code, 0);
  const auto good = run({"conflicts", "g.h5", "--run", "four"});
  EXPECT_THAT(good.err, HasSubstr("4 groups without a conflict inside"));
}

TEST_F(Conflicts, LabelsMayBeAnyNumbersOfSomeEpisodes) {
  make("cycle-4");
  write_text(folder_ / "some.csv", "episode,label\n1,2000000000\n2,7\n3,2000000000\n");
  const auto found = run({"conflicts", "g.h5", "--labels", "some.csv", "-o", "found", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.last()["clusters"][1]["label"], 2'000'000'000);
  EXPECT_EQ(found.last()["clusters"][1]["trajectories"], 2);
  EXPECT_THAT(read_text(folder_ / "found/graph.svg"), HasSubstr("3 of 4 trajectories"));
  write_text(folder_ / "bad.csv", "episode,label\n1,0\n9,1\n");
  expect_bad_input({"conflicts", "g.h5", "--labels", "bad.csv"}, "bad.csv");
}

TEST_F(Conflicts, BetweenTwo) {
  make("cycle-5");
  const auto joined = run({"conflicts", "g.h5", "--between", "1,2", "--json"});
  ASSERT_EQ(joined.code, 0) << joined.err;
  EXPECT_EQ(joined.last()["conflict"], true);
  EXPECT_NE(joined.last()["action"], joined.last()["other_action"]);
  const auto apart = run({"conflicts", "g.h5", "--between", "1,3", "--json"});
  EXPECT_EQ(apart.last()["conflict"], false);
  expect_bad_input({"conflicts", "g.h5", "--between", "1"}, "takes two episodes");
  expect_bad_input({"conflicts", "g.h5", "--between", "1,99"}, "no episode '99'");
}

TEST_F(Conflicts, FromAGraphAndBack) {
  write_text(folder_ / "mine.col",
             "c a square with one diagonal, and a vertex apart\np edge 5 5\ne 1 2\ne 2 3\ne 3 4\n"
             "e 4 1\ne 1 3\n");
  make("mine.col");
  const auto found =
      run({"conflicts", "g.h5", "--graph", "back.col", "--policies", "2", "-o", "found", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.last()["at_most"], 3);
  EXPECT_EQ(found.last()["forced"], 4) << "there is but one way";
  EXPECT_EQ(found.last()["asked"]["verdict"], "impossible");
  const auto table = read_text(folder_ / "found/colouring.csv");
  EXPECT_THAT(table, HasSubstr("\n5,0,untouched\n"));
  EXPECT_THAT(table, Not(HasSubstr("free")));
  EXPECT_THAT(read_text(folder_ / "back.col"),
              HasSubstr("p edge 5 5\ne 1 2\ne 1 3\ne 1 4\ne 2 3\ne 3 4\n"));
  make("petersen", {"--states", "printed"});
  EXPECT_GT(run({"conflicts", "g.h5", "--json"}).last()["at_least"], 3);
}

TEST_F(Conflicts, SaysWhatItDidNotDecide) {
  make("queens-8");
  const auto found = run({"conflicts", "g.h5", "--seconds", "0", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.last()["exact"], false);
  EXPECT_LT(found.last()["at_least"], found.last()["at_most"]);
  EXPECT_THAT(found.err, HasSubstr("was not decided"));
}

TEST_F(Conflicts, BadInput) {
  make("petersen");
  expect_bad_input({"colouring", "nothing", "-o", "x.h5"}, "there is no graph 'nothing'");
  write_text(folder_ / "bad.col", "p edge 2 1\ne 1 5\n");
  expect_bad_input({"colouring", "bad.col", "-o", "x.h5"}, "line 2");
  expect_bad_input({"colouring", "petersen", "-o", "x.h5", "--format", "auto"}, "needs a format");
  EXPECT_FALSE(fs::exists(folder_ / "x.h5"));
  expect_bad_input({"conflicts", "absent.h5"}, "absent.h5");
  expect_bad_input({"conflicts", "g.h5", "--run", "a", "--labels", "b"}, "give one of them");
  fs::create_directory(folder_ / "busy");
  write_text(folder_ / "busy/thesis.txt", "mine");
  expect_bad_input({"conflicts", "g.h5", "-o", "busy"}, "holds other things");
  ASSERT_EQ(run({"conflicts", "g.h5", "-o", "found"}).code, 0);
  expect_bad_input({"conflicts", "g.h5", "-o", "found"}, "--force");
  EXPECT_EQ(run({"conflicts", "g.h5", "-o", "found", "--force"}).code, 0);
  ASSERT_EQ(run({"generate", "path-following", "--per-expert", "3", "-o", "p.h5"}).code, 0);
  expect_bad_input({"conflicts", "p.h5"}, "continuous");
}

TEST_F(Conflicts, ManyPoliciesAreSuspicious) {
  make("complete-60");
  const auto found = run({"conflicts", "g.h5"});
  EXPECT_THAT(found.err, HasSubstr("may be few that draw their actions"));
  make("complete-9");
  EXPECT_THAT(run({"conflicts", "g.h5"}).err, Not(HasSubstr("draw their actions")));
}

TEST_F(Conflicts, PoliciesThatDrawTheirActions) {
  ASSERT_EQ(run({"generate", "extra", "--per-expert", "60", "--seed", "1", "-o", "e.h5"}).code, 0);
  const auto found = run({"conflicts", "e.h5", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_GT(found.last()["contradict"], 0);
  EXPECT_THAT(found.err, HasSubstr("themselves: two actions in one state"));
  EXPECT_THAT(found.err, Not(HasSubstr("NMI")));
}

}  // namespace
}  // namespace kindred::program
