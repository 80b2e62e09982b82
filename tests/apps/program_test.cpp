// The program as scripts and people use it: commands, last line in JSON, exit codes, interruption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "kindred/core/files.h"
#include "kindred/core/random.h"
#include "kindred/data/formats.h"
#include "kindred/data/truth.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;

  /// The last line of standard output.
  json last() const {
    const auto end = out.find_last_not_of('\n');
    const auto begin = out.rfind('\n', end);
    return json::parse(out.substr(begin == std::string::npos ? 0 : begin + 1));
  }
};

class Program : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("kindred-program-" + std::string(info->name()) + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Starts the program in the test's folder with standard output and error in files.
  pid_t start(const std::vector<std::string>& arguments) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    ::chdir(folder_.c_str()) == 0 || (::_exit(99), false);
    std::freopen("stdout.txt", "w", stdout) || (::_exit(99), false);
    std::freopen("stderr.txt", "w", stderr) || (::_exit(99), false);
    std::vector<char*> argv = {const_cast<char*>(KINDRED_PROGRAM)};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(KINDRED_PROGRAM, argv.data());
    ::_exit(99);
  }

  Outcome finish(pid_t child) const {
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
            kindred::read_text(folder_ / "stdout.txt"), kindred::read_text(folder_ / "stderr.txt")};
  }

  Outcome run(const std::vector<std::string>& arguments) const { return finish(start(arguments)); }

  void make_diagonal(const std::string& per_expert = "200") const {
    ASSERT_EQ(
        run({"generate", "diagonal", "--per-expert", per_expert, "--seed", "1", "-o", "d.h5"}).code,
        0);
  }

  void wait_for(const std::string& file) const {
    for (int i = 0; i < 600 && !fs::exists(folder_ / file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_TRUE(fs::exists(folder_ / file));
  }

  void expect_bad_input(const std::vector<std::string>& arguments,
                        const std::string& sentence) const {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(sentence));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << "one sentence:\n" << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  fs::path folder_;
};

TEST_F(Program, TheContractOfTheCommands) {
  const auto generated =
      run({"generate", "diagonal", "--per-expert", "300", "--seed", "1", "-o", "d.h5", "--json"});
  ASSERT_EQ(generated.code, 0) << generated.err;
  EXPECT_EQ(generated.last()["episodes"], 1500);

  const auto info = run({"info", "d.h5", "--json"});
  ASSERT_EQ(info.code, 0) << info.err;
  for (const char* key : {"format", "episodes", "steps", "obs_dim", "action",
                          "distinct_observations", "labels", "ceiling"})
    EXPECT_TRUE(info.last().contains(key)) << key;
  EXPECT_EQ(info.last()["format"], "kindred");
  EXPECT_EQ(info.last()["obs_dim"], 243);
  EXPECT_EQ(info.last()["action"]["count"], 5);
  EXPECT_EQ(info.last()["labels"]["count"], 5);
  EXPECT_GT(info.last()["ceiling"].get<double>(), 0.9);

  const auto clustered = run({"cluster", "d.h5", "--method", "pg-kmeans", "-k", "7", "--merge-to",
                              "5", "--restarts", "5", "--seed", "1", "-o", "run", "--json"});
  ASSERT_EQ(clustered.code, 0) << clustered.err;
  const auto result = clustered.last();
  for (const char* key : {"method", "k", "episodes", "objective", "rounds", "converged", "seconds",
                          "peak_rss_mb", "nmi", "ari", "accuracy", "ceiling"})
    EXPECT_TRUE(result.contains(key)) << key;
  EXPECT_EQ(result["k"], 5);
  EXPECT_GT(result["nmi"].get<double>(), 0.9);
  for (const char* file :
       {"run.json", "config.toml", "labels.csv", "scores.h5", "centres.h5", "trace.csv"})
    EXPECT_TRUE(fs::exists(folder_ / "run" / file)) << file;
  EXPECT_FALSE(fs::exists(folder_ / "run/state.h5"));
  EXPECT_THAT(kindred::read_text(folder_ / "run/labels.csv"),
              ::testing::StartsWith("episode,label,margin\n"));

  const auto scored = run({"score", "run", "--truth", "run/labels.csv", "--json"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_EQ(scored.last()["nmi"], 1.0);
  EXPECT_EQ(run({"score", "run", "--json"}).last()["nmi"], result["nmi"]);

  ASSERT_EQ(run({"generate", "diagonal", "--per-expert", "50", "--seed", "9", "-o", "new.h5"}).code,
            0);
  const auto assigned = run({"assign", "run", "new.h5", "-o", "new.csv", "--json"});
  ASSERT_EQ(assigned.code, 0) << assigned.err;
  EXPECT_GT(assigned.last()["nmi"].get<double>(), 0.85);
  EXPECT_LT(assigned.last()["misfits"].get<int>(), 25);
  EXPECT_THAT(kindred::read_text(folder_ / "new.csv"),
              ::testing::StartsWith("episode,label,margin,fits\n"));
}

TEST_F(Program, TrajectoriesOfAnotherKindFitNone) {
  make_diagonal("300");
  ASSERT_EQ(run({"cluster", "d.h5", "-k", "5", "--restarts", "8", "-o", "run"}).code, 0);
  auto data = kindred::read_trajectories(folder_ / "d.h5");
  std::vector<std::int32_t> actions(static_cast<std::size_t>(data.steps()));
  kindred::Random random(1);
  for (auto& action : actions) action = static_cast<std::int32_t>(random.below(5));
  data.actions = kindred::Actions::discrete(std::move(actions), 5);
  kindred::write_trajectories(data, folder_ / "random.h5", kindred::Format::kKindred);
  const auto own = run({"assign", "run", "d.h5", "-o", "own.csv", "--json"});
  const auto foreign = run({"assign", "run", "random.h5", "-o", "foreign.csv", "--json"});
  ASSERT_EQ(foreign.code, 0) << foreign.err;
  EXPECT_LT(own.last()["misfits"].get<int>(), 30);
  EXPECT_GT(foreign.last()["misfits"].get<int>(), 1400);
  EXPECT_THAT(kindred::read_text(folder_ / "foreign.csv"), HasSubstr(",no\n"));

  ASSERT_EQ(run({"generate", "takeball", "--per-expert", "5", "-o", "t.h5"}).code, 0);
  expect_bad_input({"assign", "run", "t.h5", "-o", "t.csv"},
                   "the centres were fitted on data with 243");
  EXPECT_FALSE(fs::exists(folder_ / "t.csv"));
}

TEST_F(Program, TruthFromAFile) {
  make_diagonal("100");
  std::ofstream truth(folder_ / "t.csv");
  truth << "episode,start,label\n";
  for (int i = 0; i < 500; ++i) truth << i << ",0," << i % 2 << "\n";
  truth.close();
  const auto outcome = run({"cluster", "d.h5", "-k", "2", "--policy", "tabular", "--truth", "t.csv",
                            "-o", "run", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(outcome.last()["nmi"].get<double>(), 0.1);
}

TEST_F(Program, ConfigFilesRepeatARun) {
  make_diagonal("100");
  ASSERT_EQ(
      run({"cluster", "d.h5", "-k", "3", "--policy", "tabular", "--seed", "4", "-o", "a"}).code, 0);
  const auto again = run({"cluster", "--config", "a/config.toml", "-o", "b", "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(kindred::read_text(folder_ / "a/labels.csv"),
            kindred::read_text(folder_ / "b/labels.csv"));
  const auto flagged =
      run({"cluster", "--config", "a/config.toml", "-k", "2", "-o", "c", "--json"});
  EXPECT_EQ(flagged.last()["k"], 2);
  kindred::write_text(folder_ / "bad.toml", "k = 3\nclusters = 4\n");
  expect_bad_input({"cluster", "d.h5", "--config", "bad.toml", "-o", "e"},
                   "there is no option 'clusters'");
  kindred::write_text(folder_ / "bad.toml", "k = \"many\"\n");
  expect_bad_input({"cluster", "d.h5", "--config", "bad.toml", "-o", "e"},
                   "option 'k' takes a whole number");
  EXPECT_FALSE(fs::exists(folder_ / "e"));
}

TEST_F(Program, BadInputIsOneSentenceAndCodeTwo) {
  make_diagonal("20");
  expect_bad_input({"info", "nowhere.h5"}, "nowhere.h5");
  kindred::write_text(folder_ / "empty.h5", "");
  expect_bad_input({"info", "empty.h5"}, "empty.h5");
  kindred::write_text(folder_ / "text.h5", "hello, this is not a dataset");
  expect_bad_input({"cluster", "text.h5", "-o", "run"}, "text.h5");
  const auto whole = kindred::read_text(folder_ / "d.h5");
  kindred::write_text(folder_ / "half.h5", whole.substr(0, whole.size() / 2));
  expect_bad_input({"info", "half.h5"}, "half.h5");
  expect_bad_input({"cluster", "d.h5", "-k", "0", "-o", "run"},
                   "option 'k' takes a whole number from 1");
  expect_bad_input({"cluster", "d.h5", "-k", "1000", "-o", "run"}, "only 100 trajectories");
  expect_bad_input({"cluster", "d.h5", "--method", "magic", "-o", "run"},
                   "there is no method 'magic'");
  expect_bad_input({"cluster", "d.h5", "--colour", "red"}, "see 'kindred cluster --help'");
  expect_bad_input({"cluster"}, "no dataset was named");
  expect_bad_input({"generate", "labyrinth", "-o", "x.h5"}, "labyrinth");
  expect_bad_input({"generate", "diagonal", "--slip", "1.5", "-o", "x.h5"}, "option 'slip' takes");
  expect_bad_input({"generate", "diagonal", "-o", "no/such/folder/x.h5"}, "no/such/folder");
  expect_bad_input({"score", "nowhere"}, "is not a run folder");
  expect_bad_input({"assign", "nowhere", "d.h5", "-o", "l.csv"}, "is not a run folder");
  expect_bad_input({"cluster", "d.h5", "--device", "tpu", "-o", "run"}, "device");
  expect_bad_input({"cluster", "d.h5", "--truth", "nowhere.csv", "-o", "run"}, "nowhere.csv");
  expect_bad_input({"dance"}, "dance");
  expect_bad_input({}, "subcommand");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  EXPECT_FALSE(fs::exists(folder_ / "x.h5"));
  fs::create_directories(folder_ / "mine");
  kindred::write_text(folder_ / "mine/thesis.txt", "precious");
  expect_bad_input({"cluster", "d.h5", "-k", "2", "-o", "mine"}, "holds other files");
  EXPECT_EQ(kindred::read_text(folder_ / "mine/thesis.txt"), "precious");
}

TEST_F(Program, HelpTeachesByExample) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"generate", "--help"},
                                                    {"info", "--help"},
                                                    {"cluster", "--help"},
                                                    {"assign", "--help"},
                                                    {"score", "--help"},
                                                    {"evaluate", "--help"},
                                                    {"export", "--help"},
                                                    {"render", "--help"},
                                                    {"label", "--help"},
                                                    {"split", "--help"},
                                                    {"filter", "--help"},
                                                    {"experts", "train", "--help"}}) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("kindred "));
    EXPECT_THAT(outcome.out, ::testing::AnyOf(HasSubstr("Examples:"), HasSubstr("Start here:")));
  }
  EXPECT_THAT(run({"methods"}).out, HasSubstr("pg-kmeans"));
  EXPECT_THAT(run({"envs"}).out, HasSubstr("takeball-permuted"));
  EXPECT_EQ(run({"methods", "--json"}).last()["methods"][0]["name"], "pg-kmeans");
}

TEST_F(Program, RendersEpisodes) {
  make_diagonal("20");
  const auto one = run({"render", "d.h5", "--episode", "3", "-o", "one.svg", "--json"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.last()["drawn_as"], "grid");
  EXPECT_EQ(one.last()["episodes"], json::parse("[3]"));
  const auto picture = kindred::read_text(folder_ / "one.svg");
  EXPECT_EQ(one.last()["bytes"], picture.size());
  EXPECT_THAT(picture, ::testing::AllOf(::testing::StartsWith("<svg "), HasSubstr("Episode 3"),
                                        ::testing::EndsWith("</svg>\n")));

  const auto frames =
      run({"render", "d.h5", "--episode", "0,99", "--frames", "--dark", "-o", "frames.svg"});
  EXPECT_EQ(frames.code, 0) << frames.err;
  EXPECT_THAT(kindred::read_text(folder_ / "frames.svg"), HasSubstr("Episode 99"));

  const auto labels = run({"render", "d.h5", "--count", "5", "-o", "labels.svg", "--json"});
  EXPECT_EQ(labels.last()["episodes"], json::parse("[0, 20, 40, 60, 80]")) << "one per expert";

  const auto curves = run(
      {"render", "d.h5", "--as", "curves", "--dimensions", "1,10", "-o", "curves.svg", "--json"});
  EXPECT_EQ(curves.last()["drawn_as"], "curves");
  EXPECT_THAT(kindred::read_text(folder_ / "curves.svg"), HasSubstr("observation 10"));
}

TEST_F(Program, RendersTheClustersOfARun) {
  make_diagonal("20");
  ASSERT_EQ(run({"cluster", "d.h5", "-k", "2", "--policy", "tabular", "-o", "run"}).code, 0);
  const auto outcome = run({"render", "d.h5", "--run", "run", "--count", "2", "-o", "c.svg"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(kindred::read_text(folder_ / "c.svg"),
              ::testing::AllOf(HasSubstr(">cluster 0<"), HasSubstr(">cluster 1<")));
  expect_bad_input({"render", "d.h5", "--run", "nowhere", "-o", "x.svg"}, "nowhere");
}

TEST_F(Program, RefusesToRenderWhatIsNotThere) {
  make_diagonal("2");
  expect_bad_input({"render", "d.h5", "--episode", "10", "-o", "x.svg"},
                   "there is no episode 10; the dataset holds episodes 0 to 9");
  expect_bad_input({"render", "d.h5", "--episode", "first", "-o", "x.svg"},
                   "option 'episode' takes whole numbers");
  expect_bad_input({"render", "d.h5", "--episode", "1", "--count", "2", "-o", "x.svg"},
                   "--episode and --count");
  expect_bad_input({"render", "d.h5", "--as", "path", "-o", "x.svg"}, "not a path");
  expect_bad_input({"render", "d.h5", "--as", "curves", "--frames", "-o", "x.svg"},
                   "gridworlds only");
  expect_bad_input({"render", "d.h5", "-o", "no/such/folder/x.svg"}, "no/such/folder");
  expect_bad_input({"render", "nowhere.h5", "-o", "x.svg"}, "nowhere.h5");
  ASSERT_EQ(run({"generate", "bandit", "--per-expert", "2", "-o", "b.h5"}).code, 0);
  expect_bad_input({"render", "b.h5", "--as", "grid", "-o", "x.svg"}, "not one of a gridworld");
  EXPECT_FALSE(fs::exists(folder_ / "x.svg"));
}

/// A dataset in D4RL's layout without labels, clustered.
class Labelled : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    make_diagonal("20");
    auto data = kindred::read_trajectories(folder_ / "d.h5");
    data.labels = {};
    data.oracle = {};
    kindred::write_trajectories(data, folder_ / "d.hdf5", kindred::Format::kD4rl);
    original_ = kindred::read_text(folder_ / "d.hdf5");
    ASSERT_EQ(run({"cluster", "d.hdf5", "-k", "2", "--policy", "tabular", "--min-length", "20",
                   "-o", "run"})
                  .code,
              0);
  }

  void expect_original() const {
    EXPECT_TRUE(kindred::read_text(folder_ / "d.hdf5") == original_);
    for (const auto& entry : fs::directory_iterator(folder_))
      EXPECT_THAT(entry.path().filename().string(),
                  ::testing::Not(::testing::AnyOf(HasSubstr("undo"), HasSubstr("partial"),
                                                  HasSubstr(".csv"))));
  }

  std::string original_;
};

TEST_F(Labelled, IntoTheDatasetAndOutAgain) {
  const auto labelled = run({"label", "run", "--json"});
  ASSERT_EQ(labelled.code, 0) << labelled.err;
  const auto told = labelled.last();
  EXPECT_EQ(told["labelled"].get<int>() + told["left_out"].get<int>(), 100);
  EXPECT_GT(told["left_out"], 0);
  EXPECT_EQ(kindred::read_text(folder_ / "d.policy.csv"),
            kindred::read_text(folder_ / "run/labels.csv"));
  EXPECT_TRUE(run({"info", "d.hdf5", "--json"}).last()["labels"].is_null())
      << "found labels are no truth";
  EXPECT_EQ(run({"label", "run", "--undo"}).code, 0);
  expect_original();
  expect_bad_input({"label", "run", "--undo"}, "nothing to undo");

  fs::rename(folder_ / "d.hdf5", folder_ / "moved.hdf5");
  expect_bad_input({"label", "run"}, "name it with --into");
  EXPECT_EQ(run({"label", "run", "--into", "moved.hdf5"}).code, 0);
  EXPECT_EQ(run({"label", "run", "--into", "moved.hdf5", "--undo"}).code, 0);
  EXPECT_TRUE(kindred::read_text(folder_ / "moved.hdf5") == original_);
  ASSERT_EQ(run({"generate", "diagonal", "--per-expert", "20", "--seed", "2", "--format", "d4rl",
                 "-o", "other.hdf5"})
                .code,
            0);
  expect_bad_input({"label", "run", "--into", "other.hdf5"}, "is not the dataset of this run");
  auto twin = kindred::read_trajectories(folder_ / "moved.hdf5");  // of the same shape
  const auto taken = twin.actions.ints().span();
  std::vector<std::int32_t> actions(taken.begin(), taken.end());
  std::ranges::reverse(actions);
  twin.actions = kindred::Actions::discrete(std::move(actions), twin.actions.count());
  kindred::write_trajectories(twin, folder_ / "twin.hdf5", kindred::Format::kD4rl);
  expect_bad_input({"label", "run", "--into", "twin.hdf5"}, "is not the dataset of this run");
}

TEST_F(Labelled, SplitAndFiltered) {
  expect_bad_input({"split", "run", "-o", std::string(300, 'k')}, "cannot make the folder");
  const auto split = run({"split", "run", "-o", "parts/", "--json"});
  ASSERT_EQ(split.code, 0) << split.err;
  std::int64_t episodes = 0;
  const auto parts = split.last()["parts"];
  ASSERT_EQ(parts.size(), 2U);
  for (const auto& part : parts) {
    const auto data = kindred::read_trajectories(folder_ / part["path"].get<std::string>());
    EXPECT_EQ(data.episodes(), part["episodes"]);
    EXPECT_EQ(data.steps(), part["steps"]);
    episodes += data.episodes();
  }
  const auto both = run({"filter", "run", "--clusters", "0,1", "-o", "both.hdf5", "--json"});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(both.last()["episodes"], episodes);
  const auto found = kindred::read_labels_csv(folder_ / "run/labels.csv");
  const double middle = found.margins[found.margins.size() / 2];
  const auto sure = run({"filter", "run", "--clusters", "0,1", "--least-margin",
                         std::to_string(middle), "-o", "s.hdf5", "--json"});
  ASSERT_EQ(sure.code, 0) << sure.err;
  EXPECT_NEAR(sure.last()["episodes"].get<double>(),
              static_cast<double>(std::ranges::count_if(
                  found.margins, [&](double margin) { return margin >= middle; })),
              1);
  EXPECT_LT(sure.last()["episodes"], episodes);

  expect_bad_input({"split", "run", "-o", "parts"}, "not an empty folder");
  expect_bad_input({"split", "run", "-o", "new", "--least-margin", "1e9"}, "no episode of cluster");
  EXPECT_FALSE(fs::exists(folder_ / "new"));
  expect_bad_input({"filter", "run", "--clusters", "2", "-o", "x.hdf5"}, "there is no cluster 2");
  expect_bad_input({"filter", "run", "--clusters", "0", "-o", "d.hdf5"}, "exists");
  expect_original();
}

TEST_F(Program, ReportsShowRuns) {
  make_diagonal("20");
  ASSERT_EQ(run({"cluster", "d.h5", "-k", "5", "--policy", "tabular", "-o", "run"}).code, 0);
  const auto reported = run({"report", "run", "--json"});
  if (reported.code == 2 && reported.err.find("without the report page") != std::string::npos)
    GTEST_SKIP() << "NOT TESTED: built without Node, so without the page";
  ASSERT_EQ(reported.code, 0) << reported.err;
  const auto page = kindred::read_text(folder_ / "run/report.html");
  EXPECT_EQ(reported.last().at("bytes"), page.size());
  const std::string conclusion = reported.last().at("conclusion");
  EXPECT_THAT(conclusion, HasSubstr("Five policies explain these 100 trajectories"));
  EXPECT_THAT(page, HasSubstr(conclusion));

  const auto compared = run({"compare", "run", "run", "-o", "both.html"});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_THAT(kindred::read_text(folder_ / "both.html"), HasSubstr("kindred_comparison"));

  fs::rename(folder_ / "d.h5", folder_ / "moved.h5");
  const auto lost = run({"report", "run", "-o", "lost.html"});
  EXPECT_EQ(lost.code, 2);
  EXPECT_THAT(lost.err, HasSubstr("--data"));
  EXPECT_FALSE(fs::exists(folder_ / "lost.html"));
  EXPECT_EQ(run({"report", "run", "--data", "moved.h5", "-o", "found.html"}).code, 0);
  EXPECT_EQ(kindred::read_text(folder_ / "found.html"), page);
}

TEST_F(Program, ExpertsAreListed) {
  const auto outcome = run({"experts", "list", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto last = outcome.last();
  std::vector<std::string> names;
  for (const auto& expert : last["experts"]) {
    EXPECT_FALSE(expert["summary"].get<std::string>().empty());
    if (expert["environment"] == "diagonal") names.push_back(expert["expert"]);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("right-first", "down-first", "balanced", "zigzag-1",
                                            "zigzag-2"));
}

class TrainedExperts : public Program {
 protected:
  /// A training of a moment.
  std::vector<std::string> training(const std::string& folder) const {
    return {"experts",
            "train",
            "path-following",
            "--steps",
            "20000",
            "--lanes",
            "8",
            "--lane-steps",
            "100",
            "--epochs",
            "2",
            "--minibatch",
            "400",
            "--hidden",
            "16",
            "--seed",
            "5",
            "--checkpoint",
            "5",
            "--threads",
            "1",
            "-o",
            folder,
            "--json"};
  }
};

TEST_F(TrainedExperts, MakeDatasets) {
  const auto trained = run(training("mine"));
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(trained.last()["trained"].size(), 3U);
  EXPECT_EQ(trained.last()["trained"][1]["expert"], "up-first");
  for (const char* expert : {"free", "up-first", "right-first"}) {
    const auto record = json::parse(
        kindred::read_text(folder_ / "mine" / (std::string("path-following-") + expert + ".json")));
    EXPECT_EQ(record["expert"], expert);
    EXPECT_EQ(record["environment_options"]["reward"], expert);
    EXPECT_EQ(record["trained_steps"], 20'000);
    EXPECT_THAT(record["command"].get<std::string>(), HasSubstr("--seed 5"));
  }

  const auto generated = run({"generate", "path-following", "--weights", "mine", "--per-expert",
                              "20", "-o", "f.h5", "--json"});
  ASSERT_EQ(generated.code, 0) << generated.err;
  EXPECT_EQ(generated.last()["episodes"], 60);
  EXPECT_THAT(kindred::read_trajectories(folder_ / "f.h5").label_names,
              ::testing::ElementsAre("free", "up-first", "right-first"));

  const auto chosen = run({"generate", "path-following-right-first-free", "--weights", "mine",
                           "--steps", "1001", "-o", "g.h5", "--json"});
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_EQ(chosen.last()["steps"], 1001);
  EXPECT_THAT(kindred::read_trajectories(folder_ / "g.h5").label_names,
              ::testing::ElementsAre("right-first", "free"));

  // The same command makes the same files, another seed others; no checkpoint is left behind.
  const auto policy = kindred::read_text(folder_ / "mine/path-following-free.policy");
  ASSERT_EQ(run(training("mine")).code, 0);
  EXPECT_EQ(kindred::read_text(folder_ / "mine/path-following-free.policy"), policy);
  auto changed = training("mine");
  changed[16] = "6";
  ASSERT_EQ(run(changed).code, 0);
  EXPECT_NE(kindred::read_text(folder_ / "mine/path-following-free.policy"), policy);
  EXPECT_FALSE(fs::exists(folder_ / "mine/path-following-free.h5"));
}

TEST_F(TrainedExperts, BadInputIsOneSentenceAndCodeTwo) {
  expect_bad_input({"experts", "train", "diagonal", "-o", "x"}, "follow rules");
  expect_bad_input({"experts", "train", "extra", "--expert", "best", "-o", "x"},
                   "there are plus, minus, zero");
  expect_bad_input({"generate", "path-following", "--weights", "nowhere", "-o", "x.h5"},
                   "folder 'nowhere' has no 'path-following-free.policy'");
  expect_bad_input({"generate", "diagonal", "--experts", "balanced,fast", "-o", "x.h5"},
                   "there is no expert 'fast'");
  expect_bad_input({"generate", "hopper-medium", "--experts", "expert", "-o", "x.h5"},
                   "names its experts already");
  expect_bad_input({"generate", "--weights", "extra", "path-following", "-o", "x.h5"},
                   "name the environment first");
  EXPECT_FALSE(fs::exists(folder_ / "x.h5"));
}

class Evaluated : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    make_diagonal();
    cluster({"--policy", "tabular"});
  }

  void cluster(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"cluster",    "d.h5", "-k", "5",
                                          "--restarts", "1",    "-o", "run"};
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

TEST_F(Evaluated, PoliciesActInTheEnvironmentTheDataComesFrom) {
  cluster({});
  const auto outcome = run(evaluate({"--episodes", "20"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("trained on"));
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
  for (const auto& row : outcome.last()["clusters"]) EXPECT_EQ(row["training"]["rounds"], 0);
}

TEST_F(Evaluated, DataThatWasMovedOrConverted) {
  const auto data = kindred::read_trajectories(folder_ / "d.h5");
  fs::rename(folder_ / "d.h5", folder_ / "moved.h5");
  expect_bad_input(evaluate({}), "name it with --data");
  EXPECT_EQ(run(evaluate({"--data", "moved.h5"})).code, 0);

  // D4RL's layout knows neither the environment nor the action that nobody took.
  kindred::write_trajectories(data, folder_ / "d.hdf5", kindred::Format::kD4rl);
  ASSERT_EQ(run({"cluster", "d.hdf5", "-k", "2", "--policy", "tabular", "-o", "run"}).code, 0);
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

  ASSERT_EQ(run({"cluster", "d.h5", "--method", "return-kmeans", "-o", "run"}).code, 0);
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
  expect_bad_input(evaluate({"--data", "e.h5"}), "made from other episodes");
  expect_nothing_written();
}

TEST_F(Evaluated, KilledItLeavesNothingHalfWritten) {
  const pid_t child = start(evaluate({"--rounds", "100000"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ::kill(child, SIGKILL);
  EXPECT_EQ(finish(child).code, -SIGKILL);
  expect_nothing_written();
  EXPECT_EQ(run(evaluate({})).code, 0);
}

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

TEST_F(Program, SharedFilesAreRecognised) {
  const fs::path shared = fs::path(KINDRED_SHARED_DATA) / "mujoco";
  if (!fs::exists(shared)) GTEST_SKIP() << "NOT RUN: no datasets in " << shared;
  for (const auto& [name, dims] :
       std::map<std::string, std::pair<int, int>>{{"hopper", {11, 3}},
                                                  {"halfcheetah", {17, 6}},
                                                  {"walker2d", {17, 6}},
                                                  {"ant", {27, 8}}}) {
    const auto outcome = run({"info", (shared / (name + "-medium-expert.hdf5")).string(), "--truth",
                              (shared / (name + "-medium-expert.labels.csv")).string(), "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto info = outcome.last();
    EXPECT_EQ(info["format"], "d4rl");
    EXPECT_EQ(info["obs_dim"], dims.first);
    EXPECT_EQ(info["action"]["dim"], dims.second);
    EXPECT_EQ(info["labels"]["count"], 2);
    EXPECT_FALSE(info["return"].is_null());
  }
}

}  // namespace
