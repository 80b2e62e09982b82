// The policies of a run: let act, and exported.
#include <csignal>
#include <sstream>

#include "kindred/data/formats.h"
#include "program.h"

namespace kindred::program {
namespace {

class Evaluated : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    make_diagonal();
    cluster({"--policy", "tabular"});
  }

  void cluster(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"cluster", "d.h5", "-k",  "5",        "--restarts", "1",
                                          "--force", "-o",   "run", "--choose", "objective"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto outcome = run(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  static std::vector<std::string> evaluate(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"evaluate", "run", "--best",     "0", "--labelled", "0",
                                          "--rounds", "1",   "--continue", "1", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  void expect_nothing_written() const {
    EXPECT_FALSE(fs::exists(folder_ / "run/evaluation.json"));
    EXPECT_FALSE(fs::exists(folder_ / "run/policies.h5"));
  }
};

TEST_F(Evaluated, WeightsNeedAPick) {
  expect_bad_input(evaluate({"--weighted"}), "--weighted needs a picked cluster");
  expect_nothing_written();
}

TEST_F(Evaluated, PoliciesActInTheEnvironmentTheDataComesFrom) {
  cluster({});
  const auto outcome = run(evaluate({"--episodes", "20"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("trained further"));
  const auto result = outcome.last();
  EXPECT_EQ(result, json::parse(kindred::read_text(folder_ / "run/evaluation.json")));
  EXPECT_TRUE(fs::exists(folder_ / "run/policies.h5"));
  EXPECT_EQ(result["environment"], "diagonal");
  EXPECT_EQ(result["environment_options"]["slip"], 0.3);
  for (const auto& row : result["clusters"]) {
    const auto lengths = row["lengths"].get<std::vector<double>>();
    ASSERT_EQ(lengths.size(), 20U);
    // An expert arrives within 40 steps nearly always; who does not know the way never does.
    EXPECT_GT(std::ranges::count_if(lengths, [](double n) { return n < 40; }), 15);
    EXPECT_TRUE(row["score"].is_null());
  }
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);)  // "±" is one column and two bytes
    EXPECT_LE(line.size(), line.find("±") == std::string::npos ? 80U : 81U) << line;

  cluster({"--seed", "2"});  // another run in the same folder
  expect_nothing_written();
}

TEST_F(Evaluated, TablesActToo) {
  const auto outcome = run(evaluate({}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("as they are"));
  const auto last = outcome.last();
  for (const auto& row : last["clusters"]) EXPECT_EQ(row["training"]["rounds"], 0);
}

TEST_F(Evaluated, DataThatWasMovedOrConverted) {
  const auto data = kindred::read_trajectories(folder_ / "d.h5");
  fs::rename(folder_ / "d.h5", folder_ / "moved.h5");
  expect_bad_input(evaluate({}), "name it with --data");
  EXPECT_EQ(run(evaluate({"--data", "moved.h5"})).code, 0);

  // D4RL's layout knows neither the environment nor the action that nobody took.
  kindred::write_trajectories(data, folder_ / "d.hdf5", kindred::Format::kD4rl);
  ASSERT_EQ(
      run({"cluster", "d.hdf5", "-k", "2", "--policy", "tabular", "--force", "-o", "run"}).code, 0);
  expect_bad_input(evaluate({}), "name one with --env");
  const auto outcome = run(evaluate({"--env", "diagonal", "--slip", "0.1"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.last()["environment_options"]["slip"], 0.1);
}

TEST_F(Evaluated, PoliciesAreExported) {
  const auto own = run({"export", "run", "-o", "own/", "--json"});
  ASSERT_EQ(own.code, 0) << own.err;
  EXPECT_EQ(own.last()["policies"], 5);
  EXPECT_EQ(own.last()["check_observations"], 256);
  EXPECT_THAT(own.err, HasSubstr("example.py --check"));
  for (const char* file :
       {"policy_4.pt", "policy_4.npz", "policies.json", "check.npz", "example.py"})
    EXPECT_TRUE(fs::exists(folder_ / "own" / file)) << file;
  expect_bad_input({"export", "run", "-o", "own"}, "holds files already");
  expect_bad_input({"export", "run", "--policies", "evaluated", "-o", "new"}, "not evaluated yet");

  ASSERT_EQ(run({"cluster", "d.h5", "--method", "return-kmeans", "--force", "-o", "run"}).code, 0);
  expect_bad_input({"export", "run", "-o", "new"}, "let 'kindred evaluate' clone one");
  ASSERT_EQ(run(evaluate({})).code, 0);
  fs::remove(folder_ / "d.h5");
  const auto evaluated = run({"export", "run", "--policies", "evaluated", "-o", "new", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_THAT(evaluated.err, HasSubstr("the dataset is not there; name it with --data"));
  EXPECT_FALSE(fs::exists(folder_ / "new/check.npz"));
  EXPECT_EQ(json::parse(kindred::read_text(folder_ / "new/policies.json"))["kind"], "network");
}

TEST_F(Evaluated, BadInputIsOneSentenceAndCodeTwo) {
  expect_bad_input({"evaluate", "nowhere"}, "is not a run folder");
  expect_bad_input({"evaluate", "run"}, "every episode returns 0");
  expect_bad_input(evaluate({"--env", "labyrinth"}), "unknown environment 'labyrinth'");
  expect_bad_input(evaluate({"--env", "takeball"}), "environment 'takeball' has 567");
  expect_bad_input(evaluate({"--episodes", "0"}), "option 'episodes' takes");
  expect_bad_input(evaluate({"--data", "nowhere.h5"}), "nowhere.h5");
  ASSERT_EQ(run({"generate", "diagonal", "--per-expert", "200", "--seed", "2", "-o", "e.h5"}).code,
            0);
  expect_bad_input(evaluate({"--data", "e.h5"}), "is not the dataset this run was made from");
  expect_nothing_written();
}

TEST_F(Evaluated, KilledItLeavesNothingHalfWritten) {
  const pid_t child = start(evaluate({"--episodes", "1000000"}));
  std::this_thread::sleep_for(std::chrono::seconds(3));  // well after its start
  ::kill(child, SIGKILL);
  EXPECT_EQ(finish(child).code, -SIGKILL) << "it was over before it was killed";
  expect_nothing_written();
  EXPECT_EQ(run(evaluate({})).code, 0);
}

}  // namespace
}  // namespace kindred::program
