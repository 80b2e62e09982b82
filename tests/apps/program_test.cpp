// The program as scripts and people use it: commands, last line in JSON, exit codes.
#include "program.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "kindred/core/random.h"
#include "kindred/data/formats.h"
#include "tests/clustering/synthetic.h"

namespace kindred::program {
namespace {

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
                          "peak_rss_mb", "nmi", "ami", "chance_nmi", "ari", "accuracy", "ceiling"})
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
              ::testing::StartsWith(
                  "episode,label,margin,fits,posterior,surprise,misfit,p0,p1,p2,p3,p4\n"));
  EXPECT_EQ(assigned.last()["held_out"], true);
}

TEST_F(Program, ClustersThatAreLostAreAWarning) {
  make_diagonal("20");
  const auto kept =
      run({"cluster", "d.h5", "-k", "3", "--policy", "tabular", "--restarts", "2", "--json"});
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(kept.last()["k_asked"], 3);
  EXPECT_THAT(kept.last()["warnings"], ::testing::IsEmpty());
  EXPECT_THAT(kept.err, ::testing::Not(HasSubstr("warning")));
  EXPECT_THAT(kept.err, HasSubstr("3, as asked"));

  // There are not as many different returns.
  const auto lost = run({"cluster", "d.h5", "--method", "return-kmeans", "-k", "90", "--json"});
  ASSERT_EQ(lost.code, 0) << lost.err;
  const auto k = lost.last()["k"].get<int>();
  ASSERT_LT(k, 90);
  EXPECT_EQ(lost.last()["k_asked"], 90);
  EXPECT_THAT(lost.last()["warnings"][0].get<std::string>(),
              HasSubstr("90 clusters were asked for, but only " + std::to_string(k)));
  EXPECT_THAT(lost.err, HasSubstr("warning: 90 clusters were asked for"));
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
  EXPECT_THAT(kindred::read_text(folder_ / "foreign.csv"), HasSubstr(",no,"));
  EXPECT_THAT(foreign.err, HasSubstr("worse than 99% of the run's own, each judged by policies"));
  EXPECT_EQ(foreign.last()["held_out"], true);
  const auto never = run({"assign", "run", "random.h5", "-o", "never.csv", "--false-alarms", "0"});
  EXPECT_THAT(never.err, HasSubstr("worse than 100% of the run's own"));
  expect_bad_input({"assign", "run", "d.h5", "-o", "t.csv", "--false-alarms", "2"}, "false-alarms");

  ASSERT_EQ(run({"generate", "takeball", "--per-expert", "5", "-o", "t.h5"}).code, 0);
  expect_bad_input({"assign", "run", "t.h5", "-o", "t.csv"},
                   "the centres were fitted on data with 243");
  EXPECT_FALSE(fs::exists(folder_ / "t.csv"));
}

TEST_F(Program, FindsHowManyPoliciesThereAre) {
  kindred::write_trajectories(
      kindred::testing::linear_control({.episodes = 40, .obs_dim = 4, .policies = 4}),
      folder_ / "four.h5", kindred::Format::kKindred);
  const auto found = run({"cluster", "four.h5", "-o", "run", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.last()["k"], 4);
  EXPECT_EQ(found.last()["k_found"], true);
  EXPECT_EQ(found.last()["nmi"], 1.0);
  EXPECT_THAT(found.err, HasSubstr("4 found, every two act differently in like states"));

  const auto assigned = run({"assign", "run", "four.h5", "-o", "again.csv", "--json"});
  ASSERT_EQ(assigned.code, 0) << assigned.err;
  EXPECT_EQ(assigned.last()["sizes"], found.last()["sizes"]);
  ASSERT_EQ(run({"report", "run"}).code, 0);

  const auto given =
      run({"cluster", "four.h5", "-k", "3", "--policy", "features", "-o", "three", "--json"});
  ASSERT_EQ(given.code, 0) << given.err;
  EXPECT_EQ(given.last()["k"], 3);
  EXPECT_EQ(given.last()["k_found"], false);
  expect_bad_input({"cluster", "four.h5", "--policy", "mlp", "-o", "none"},
                   "k must be given, unless the held-out score chooses");
  expect_bad_input({"cluster", "four.h5", "--merge-to", "2", "-o", "none"},
                   "merge-to is 2, but k is to be found");
}

TEST_F(Program, FindsHowManyClustersThereAreForAnyMethod) {
  kindred::write_trajectories(
      kindred::testing::linear_control({.episodes = 40, .obs_dim = 4, .policies = 4}),
      folder_ / "four.h5", kindred::Format::kKindred);
  const std::vector<std::string> command = {"cluster", "four.h5", "--method", "return-kmeans",
                                            "-o",      "run",     "--json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), command.begin(), command.end());
    return more;
  };
  const auto found = run(with({"-k", "auto"}));
  ASSERT_EQ(found.code, 0) << found.err;
  const auto json = found.last();
  EXPECT_EQ(json["k"], 4);
  EXPECT_EQ(json["k_found"], true);
  EXPECT_EQ(json["nmi"], 1.0);
  EXPECT_EQ(json["considered"][3]["v"], json["v"]);
  EXPECT_EQ(json["considered"][0]["v"], json["v_of_one"]);
  EXPECT_FALSE(json.contains("alternatives"));  // this method does not look for any
  EXPECT_THAT(found.err, HasSubstr("4 found; 5 would predict no better"));
  EXPECT_THAT(kindred::read_text(folder_ / "run/config.toml"), HasSubstr("k = \"auto\"\n"));
  ASSERT_EQ(run({"report", "run"}).code, 0);

  EXPECT_THAT(run(with({"-k", "auto", "--resume"})).err, HasSubstr("there is nothing to resume"));
  fs::remove_all(folder_ / "run");
  expect_bad_input(with({"-k", "auto", "--resume"}), "nothing is saved while k is looked for");
  expect_bad_input(with({"-k", "auto", "--merge-to", "2"}), "merge-to is 2, but k is to be found");
  expect_bad_input(with({"-k", "many"}),
                   "option 'k' takes 'auto' or a whole number from 1 to 10000, not 'many'");

  const auto searched = run({"cluster", "four.h5", "-k", "auto", "-o", "same", "--json"});
  ASSERT_EQ(searched.code, 0) << searched.err;
  EXPECT_EQ(searched.last()["k"], 4);
  EXPECT_EQ(searched.last()["k_found"], true);
}

TEST_F(Program, AnotherAnswerThatIsAsGoodCanBeWritten) {
  ASSERT_EQ(run({"generate", "bandit", "--per-expert", "30", "--seed", "1", "-o", "b.h5"}).code, 0);
  const auto found = run({"cluster", "b.h5", "-o", "run", "--json"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(found.last()["verdict"], "several");
  EXPECT_THAT(found.err, HasSubstr("ANSWERS predict equally well"));
  EXPECT_THAT(found.err, HasSubstr("kindred label run --alternative 2"));
  const auto labelled = run({"label", "run", "--alternative", "2", "--json"});
  ASSERT_EQ(labelled.code, 0) << labelled.err;
  EXPECT_EQ(labelled.last()["alternative"], 2);
  expect_bad_input({"label", "run", "--alternative", "9", "--replace"},
                   "there is no alternative 9");
}

TEST_F(Program, AnyMethodsLabelsAreJudgedByWhatTheyPredict) {
  auto data = kindred::testing::linear_control({.episodes = 40, .policies = 2});
  data.labels = {};
  kindred::write_trajectories(data, folder_ / "two.h5", kindred::Format::kKindred);
  ASSERT_EQ(run({"cluster", "two.h5", "--method", "return-kmeans", "-k", "2", "-o", "run"}).code,
            0);
  const auto scored = run({"score", "run", "--json"});
  ASSERT_EQ(scored.code, 0) << scored.err;
  const auto json = scored.last();
  EXPECT_FALSE(json.contains("nmi"));
  EXPECT_GT(json["v"].get<double>(), json["v_of_one"].get<double>());  // rewards tell who acted
  EXPECT_GT(json["v_gain"].get<double>(), 2.0 * json["v_gain_error"].get<double>());
  EXPECT_EQ(json["v_judged"], 40);
  EXPECT_THAT(scored.err, HasSubstr("nats per step, on 40 trajectories"));
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
                   "option 'k' takes 'auto' or a whole number");
  EXPECT_FALSE(fs::exists(folder_ / "e"));
}

TEST_F(Program, OptionsThatARunWouldNotReadAreRefused) {
  make_diagonal("20");
  const std::string sentence = "'--hidden' is for policies that are networks; add '--policy mlp'";
  const std::vector<std::string> command = {"cluster", "d.h5", "-k", "2", "-o", "run"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), command.begin(), command.end());
    return more;
  };
  expect_bad_input(with({"--hidden", "64"}), sentence);
  expect_bad_input(with({"--hidden", "128"}), sentence);  // the default, but typed
  expect_bad_input(with({"--method", "policy-search", "--k-max", "9"}),
                   "'--k-max' is for '-k auto'; leave it out");
  // A file lists many options: those count that are not the default.
  kindred::write_text(folder_ / "own.toml", "method = \"pg-kmeans\"\nhidden = 64\n");
  expect_bad_input(with({"--config", "own.toml"}), sentence);
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  kindred::write_text(folder_ / "own.toml", "method = \"pg-kmeans\"\nhidden = 128\n");
  EXPECT_EQ(run(with({"--config", "own.toml"})).code, 0);
}

TEST_F(Program, EveryRunCanBeRepeatedFromItsConfigFile) {
  make_diagonal("10");
  const std::vector<std::vector<std::string>> runs = {
      {},
      {"--k-max", "3"},
      {"-k", "2", "--method", "pg-kmeans"},
      {"-k", "2", "--preset", "paper", "--max-rounds", "1"},  // sets options for continuous actions
      {"-k", "2", "--preset", "paper", "--policy", "tabular", "--no-refine", "--merge-to", "1"},
      {"-k", "2", "--method", "sorl", "--max-rounds", "1"},
      {"--method", "return-kmeans", "-k", "auto", "--k-max", "3"}};
  for (const auto& options : runs) {
    std::vector<std::string> command = {"cluster", "d.h5", "-o", "run", "--force"};
    command.insert(command.end(), options.begin(), options.end());
    const auto first = run(command);
    ASSERT_EQ(first.code, 0) << first.err;
    const auto again = run({"cluster", "--config", "run/config.toml", "-o", "again", "--force"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(kindred::read_text(folder_ / "run/labels.csv"),
              kindred::read_text(folder_ / "again/labels.csv"));
  }
  // Flags win over a run's file, and may leave some of it without use.
  EXPECT_EQ(run({"cluster", "--config", "run/config.toml", "-k", "2", "-o", "two"}).code, 0);
  // As runs were before unused options were refused.
  auto config = kindred::read_text(folder_ / "run/config.toml");
  const auto at = config.find("k = \"auto\"");
  ASSERT_NE(at, std::string::npos);
  kindred::write_text(folder_ / "run/config.toml", config.replace(at, 10, "k = 2"));
  EXPECT_EQ(run({"cluster", "--config", "run/config.toml", "-o", "old"}).code, 0);
}

TEST_F(Program, PresetsSetOptionsAndFlagsWin) {
  make_diagonal("20");
  const auto options_of = [&](const std::string& name, const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"cluster", "d.h5", "-k", "2", "-o", name};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(kindred::read_text(folder_ / name / "run.json"))["options"];
  };
  const auto paper = options_of("paper", {"--preset", "paper", "--restarts", "1"});
  EXPECT_EQ(paper["choose"], "objective");
  EXPECT_EQ(paper["policy"], "mlp");
  EXPECT_EQ(paper["log-prob-floor"], -5.0);
  EXPECT_EQ(paper["common-share"], "off");
  EXPECT_EQ(paper["standardize-actions"], false);
  EXPECT_EQ(paper["restarts"], 1);
  // What is typed wins over the file, a preset as much as a flag.
  const auto plain = options_of("plain", {"--policy", "mlp", "--restarts", "1", "--seed", "3"});
  EXPECT_EQ(plain["common-share"], 0.05);
  const auto typed = options_of("typed", {"--config", "plain/config.toml", "--preset", "paper",
                                          "--log-prob-floor", "-3", "--restarts", "1"});
  EXPECT_EQ(typed["common-share"], "off");
  EXPECT_EQ(typed["log-prob-floor"], -3.0);
  EXPECT_EQ(typed["seed"], 3);

  expect_bad_input({"cluster", "d.h5", "--preset", "thesis", "-o", "run"},
                   "there is no preset 'thesis'");
  expect_bad_input({"cluster", "d.h5", "--method", "caae", "--preset", "paper", "-o", "run"},
                   "only pg-kmeans and return-kmeans have the preset 'paper'");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
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
  expect_bad_input({"cluster", "d.h5", "-k", "-1", "-o", "run"},
                   "option 'k' takes 'auto' or a whole number from 1");
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
  expect_bad_input({"info", "d.h5", "--device", "cuda"}, "runs on the CPU only");
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
                                                    {"conflicts", "--help"},
                                                    {"colouring", "--help"},
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
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(columns, 80) << line;
    }
  }
  EXPECT_THAT(run({"methods"}).out, HasSubstr("pg-kmeans"));
  EXPECT_THAT(run({"envs"}).out, HasSubstr("takeball-permuted"));
  EXPECT_EQ(run({"methods", "--json"}).last()["methods"][0]["name"], "policy-search");
}

TEST_F(Program, SharedFilesAreRecognised) {
  const fs::path shared = fs::path(KINDRED_SHARED_DATA) / "mujoco";
  if (!fs::exists(shared)) GTEST_SKIP() << "*** NOT TESTED: there are no datasets in " << shared;
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
}  // namespace kindred::program
