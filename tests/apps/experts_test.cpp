// Experts listed, trained and made datasets of.
#include "kindred/data/formats.h"
#include "kindred/envs/mujoco/locomotion.h"
#include "program.h"

namespace kindred::program {
namespace {

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

class Mixtures : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (!kindred::has_mujoco()) GTEST_SKIP() << "THIS BUILD HAS NO MUJOCO: nothing to mix";
  }
  /// A mixture of a moment.
  Outcome generate(std::vector<std::string> options, const std::string& file = "m.h5") const {
    std::vector<std::string> arguments = {
        "generate", "hopper-mixture", "--per-policy", "2", "--horizon", "40", "-o", file, "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run(arguments);
  }
  std::vector<std::string> names_in(const std::string& file) const {
    return kindred::read_trajectories(folder_ / file).label_names;
  }
};

TEST_F(Mixtures, AreDrawnByTheSeed) {
  const auto made = generate({"--policies", "3", "--seed", "3"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.last()["episodes"], 6);
  EXPECT_EQ(made.last()["environment"], "hopper");
  ASSERT_EQ(names_in("m.h5").size(), 3U);
  ASSERT_EQ(generate({"--policies", "3", "--seed", "3"}, "same.h5").code, 0);
  EXPECT_EQ(kindred::read_text(folder_ / "same.h5"), kindred::read_text(folder_ / "m.h5"));
  ASSERT_EQ(generate({"--policies", "1", "--seed", "4"}, "one.h5").code, 0);
  ASSERT_EQ(names_in("one.h5").size(), 1U);
  EXPECT_NE(names_in("one.h5").front(), names_in("m.h5").front());
}

TEST_F(Mixtures, TakeTheirOptions) {
  const auto made = generate({"--experts", "expert-11,medium", "--shares", "0.2", "--noise", "0.1",
                              "--action-scale", "3", "--duplicate", "2"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.last()["episodes"], 4 + 2);
  EXPECT_THAT(names_in("m.h5"), ::testing::ElementsAre("expert-11", "medium"));
  const auto mixture = kindred::read_trajectories(folder_ / "m.h5").provenance["mixture"];
  EXPECT_EQ(mixture["noise"], 0.1);
  EXPECT_EQ(mixture["action-scale"], 3.0);
  const auto cut = run({"generate", "hopper-mixture", "--policies", "2", "--steps", "101", "-o",
                        "cut.h5", "--json"});
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_EQ(cut.last()["steps"], 101);
  const auto few = run({"generate", "hopper-mixture", "--policies", "2", "--per-expert", "1",
                        "--horizon", "40", "-o", "few.h5", "--json"});
  ASSERT_EQ(few.code, 0) << few.err;
  EXPECT_EQ(few.last()["episodes"], 2);
  const auto named = run({"generate", "hopper-expert-12-medium", "--steps", "50", "-o", "n.h5"});
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(names_in("n.h5"), ::testing::ElementsAre("expert-12", "medium"));
}

TEST_F(Mixtures, BadInputIsOneSentenceAndCodeTwo) {
  const auto refused = [&](std::vector<std::string> options, const std::string& sentence) {
    std::vector<std::string> arguments = {"generate", "hopper-mixture", "-o", "x.h5"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    expect_bad_input(arguments, sentence);
  };
  refused({"--policies", "11"}, "there are 10 policies of 'hopper' to mix, not 11");
  refused({"--policies", "2", "--experts", "expert"}, "leave out --policies");
  refused({"--weights", "mine"}, "leave out --weights");
  refused({"--noise", "loud"}, "option 'noise' takes a number");
  expect_bad_input({"generate", "hopper", "--policies", "3", "-o", "x.h5"},
                   "see 'kindred generate --help'");
  expect_bad_input({"generate", "--experts", "hopper", "hopper-mixture", "-o", "x.h5"},
                   "name the environment first");
  EXPECT_FALSE(fs::exists(folder_ / "x.h5"));
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

}  // namespace
}  // namespace kindred::program
