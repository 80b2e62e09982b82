// Files that are unusual, damaged, or change while they are read.
#include <csignal>
#include <fstream>
#include <limits>
#include <sstream>

#include "kindred/data/formats.h"
#include "program.h"

namespace kindred::program {
namespace {

using ::testing::AllOf;
using ::testing::Not;

class ForeignInput : public Program {
 protected:
  /// Episodes of three steps with continuous actions, and what `change` makes of them.
  void make(const std::string& name, const std::function<void(Trajectories&)>& change,
            std::int64_t episodes = 4) const {
    Trajectories data;
    const auto steps = static_cast<std::size_t>(3 * episodes);
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < episodes; ++i) {
      offsets.push_back(offsets.back() + 3);
      labels.push_back(static_cast<std::int32_t>(i % 2));
      data.ids.push_back(std::to_string(i));
    }
    std::vector<float> observations(2 * steps), actions(steps);
    for (std::size_t i = 0; i < observations.size(); ++i)
      observations[i] = static_cast<float>(i * 7919 % 1009) / 1009.0f;
    for (std::size_t i = 0; i < steps; ++i)
      actions[i] = (i / 3 % 2 ? 1.0f : -1.0f) * observations[2 * i];
    data.offsets = std::move(offsets);
    data.observations = Observations::dense(std::move(observations), 2);
    data.actions = Actions::continuous(std::move(actions), 1);
    data.rewards = std::vector<float>(steps, 1.0f);
    data.labels = std::move(labels);
    change(data);
    write_trajectories(data, folder_ / name, Format::kKindred);
  }
};

TEST_F(ForeignInput, LabelsMayBeFarApart) {
  constexpr auto kLargest = std::numeric_limits<std::int32_t>::max();
  make("far.h5", [](Trajectories& data) {
    data.labels = std::vector<std::int32_t>{0, kLargest, 0, 0};
  });
  const auto info = run({"info", "far.h5", "--json"});
  ASSERT_EQ(info.code, 0) << info.err;
  EXPECT_LT(info.out.size() + info.err.size(), 2000u);
  EXPECT_EQ(info.last()["labels"], json({{"count", 2},
                                         {"known", 4},
                                         {"values", {0, kLargest}},
                                         {"sizes", {3, 1}},
                                         {"names", json::array()}}));
  EXPECT_THAT(info.err, HasSubstr("2, episodes 0: 3, 2147483647: 1"));

  ASSERT_EQ(run({"cluster", "far.h5", "-k", "2", "--method", "pg-kmeans", "-o", "run"}).code, 0);
  const auto report = run({"report", "run", "-o", "page.html"});
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_NE(read_text(folder_ / "page.html").find("true policy 2147483647"), std::string::npos);
  EXPECT_EQ(run({"render", "far.h5", "--count", "4", "-o", "picture.svg"}).code, 0);

  make("near.h5", [](Trajectories&) {});
  const auto near = run({"info", "near.h5", "--json"}).last()["labels"];
  EXPECT_FALSE(near.contains("values"));
  EXPECT_EQ(near["sizes"], json({2, 2}));
}

TEST_F(ForeignInput, ReturnsThatAreNotNumbersAreCounted) {
  make("nan.h5", [](Trajectories& data) {
    std::vector<float> rewards(data.rewards.begin(), data.rewards.end());
    rewards[4] = std::numeric_limits<float>::quiet_NaN();
    rewards[7] = std::numeric_limits<float>::infinity();
    data.rewards = std::move(rewards);
  });
  const auto info = run({"info", "nan.h5", "--json"});
  ASSERT_EQ(info.code, 0) << info.err;
  EXPECT_EQ(info.last()["return"],
            json({{"min", 3.0}, {"mean", 3.0}, {"max", 3.0}, {"not_a_number", 2}}));
  EXPECT_THAT(info.err, HasSubstr("3 to 3, mean 3; not a number in 2 episodes"));
  ASSERT_EQ(run({"cluster", "nan.h5", "-k", "2", "--method", "pg-kmeans", "-o", "run"}).code, 0);
  EXPECT_EQ(run({"report", "run", "-o", "page.html"}).code, 0);
  EXPECT_NE(read_text(folder_ / "page.html").find(R"("rewards":[1.0,null,1.0])"),
            std::string::npos);
  expect_bad_input({"cluster", "nan.h5", "--method", "return-kmeans", "-k", "2", "-o", "returns"},
                   "the return of episode 1 ('1') is nan, so return-kmeans cannot place it");
  expect_bad_input({"info", "nan.h5", "--truth-return-change"}, "the return of episode 1");
}

TEST_F(ForeignInput, InfoSaysWhereNumbersAreNotFiniteAndClusterRefusesThem) {
  make("nan.h5", [](Trajectories& data) {
    auto rows = data.observations.floats().span();
    std::vector<float> changed(rows.begin(), rows.end());
    changed[2 * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
    changed[2 * 6] = std::numeric_limits<float>::infinity();
    data.observations = Observations::dense(std::move(changed), 2);
    data.observation_names = {"place", "speed"};
  });
  expect_bad_input({"cluster", "nan.h5", "-k", "2", "-o", "run"}, "row 4, column 1");
  const auto info = run({"info", "nan.h5", "--json"});
  ASSERT_EQ(info.code, 0) << info.err;
  const auto found = info.last()["doctor"]["found"][0];
  EXPECT_EQ(found["key"], "not-finite");
  EXPECT_EQ(found["severity"], "warning");
  EXPECT_EQ(
      found["evidence"],
      "2 numbers are not finite: inf in observation 'place' at step 0 (row 6) of episode 2 and "
      "nan in observation 'speed' at step 1 (row 4) of episode 1");
  EXPECT_EQ(found["details"]["places"][1]["row"], 4);
}

/// What looks odd stands at the end, in 80 columns; a run remembers it and says that it is there.
TEST_F(ForeignInput, WhatLooksOddIsSaidAndRemembered) {
  make("odd.h5", [](Trajectories& data) {
    std::vector<std::uint8_t> terminals(static_cast<std::size_t>(data.steps()), 0);
    terminals[4] = 1;
    data.terminals = std::move(terminals);
  });
  const auto info = run({"info", "odd.h5", "--json"});
  ASSERT_EQ(info.code, 0) << info.err;
  const auto odd = info.err.substr(info.err.find("what looks odd\n"));
  EXPECT_THAT(odd, AllOf(HasSubstr("  warning flag-inside: 1 terminal flag is set before the last"),
                         HasSubstr("episode 1;"), HasSubstr("  note constant-rewards: ")));
  std::istringstream lines(odd);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_GT(info.last()["doctor"]["checks"], 10);

  const auto cluster = run({"cluster", "odd.h5", "-k", "2", "--method", "pg-kmeans", "-o", "run"});
  ASSERT_EQ(cluster.code, 0) << cluster.err;
  EXPECT_THAT(cluster.err, HasSubstr("\n1 thing looks odd in this data: kindred info odd.h5\n"));
  const auto kept = json::parse(read_text(folder_ / "run/run.json"))["dataset"]["doctor"];
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0]["key"], "flag-inside");
  EXPECT_THAT(kept[0]["advice"], HasSubstr("cut the episodes there"));
}

TEST_F(ForeignInput, NothingOddIsOneLine) {
  make("fine.h5", [](Trajectories& data) {
    std::vector<float> rewards(data.rewards.begin(), data.rewards.end());
    rewards[0] = 2.0f;
    data.rewards = std::move(rewards);
  });
  const auto info = run({"info", "fine.h5", "--json"});
  EXPECT_THAT(info.err, ::testing::ContainsRegex("\nnothing odd found \\([0-9]+ checks\\)\n$"));
  EXPECT_EQ(info.last()["doctor"]["found"], json::array());
}

TEST_F(ForeignInput, ControlCharactersDoNotReachTheTerminal) {
  make("names\x1b[2J.h5", [](Trajectories& data) {
    data.label_names = {"red \x1b[31m", "bell\x07"};
  });
  const auto info = run({"info", "names\x1b[2J.h5"});
  ASSERT_EQ(info.code, 0) << info.err;
  EXPECT_THAT(info.err, AllOf(HasSubstr("names\\x1b[2J.h5"), HasSubstr("red \\x1b[31m, bell\\x07"),
                              Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
  const auto missing = run({"info", "no\x1b[2J"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("'no\\x1b[2J'"), Not(HasSubstr("\x1b"))));
}

TEST_F(ForeignInput, AMappedFileThatShrinksIsASentence) {
  make(
      "m.h5", [](Trajectories&) {}, 20000);
  const pid_t child =
      start({"cluster", "m.h5", "-k", "2", "--policy", "mlp", "--max-rounds", "100000",
             "--change-tolerance", "0", "--max-steps", "2000", "-o", "run"});
  wait_for("run/state.h5");
  fs::resize_file(folder_ / "m.h5", 100);
  const auto outcome = finish(child);
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("kindred: 'm.h5' became shorter while it was being read"));
}

TEST_F(ForeignInput, PathsNeedNotBeUtf8) {
  make("caf\xe9.h5", [](Trajectories&) {});
  const auto clustered =
      run({"cluster", "caf\xe9.h5", "-k", "2", "--method", "pg-kmeans", "-o", "r\xe9"});
  ASSERT_EQ(clustered.code, 0) << clustered.err;
  EXPECT_EQ(run({"report", "r\xe9", "--data", "caf\xe9.h5", "-o", "\xe9.html"}).code, 0);
  EXPECT_EQ(run({"score", "r\xe9"}).code, 0);
}

TEST_F(ForeignInput, PathsThatAreNotPathsAreSentences) {
  make("d.h5", [](Trajectories&) {});
  fs::create_symlink("b", folder_ / "a");
  fs::create_symlink("a", folder_ / "b");
  expect_bad_input({"info", "a"}, "Too many levels of symbolic links");
  expect_bad_input({"cluster", "d.h5", "-k", "2", "-o", "a"}, "Too many levels of symbolic links");
  expect_bad_input({"cluster", "d.h5", "-k", "2", "--policy", "mlp", "--batch-steps", "99999999999",
                    "-o", "run"},
                   "batch-steps is 99999999999, but the data hold only 12; choose at most 65536");
}

}  // namespace
}  // namespace kindred::program
