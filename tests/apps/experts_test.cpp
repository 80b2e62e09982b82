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
    if (!kindred::has_mujoco())
      GTEST_SKIP() << "*** NOT TESTED: this build has no MuJoCo, so nothing to mix";
  }
  std::vector<std::string> names_in(const std::string& file) const {
    return kindred::read_trajectories(folder_ / file).label_names;
  }
};

TEST_F(Mixtures, AreDrawnByTheSeed) {
  const auto generate = [&](const std::string& per_policy, const std::string& file) {
    return run({"generate", "hopper-mixture", "--policies", "3", per_policy, "2", "--seed", "3",
                "--horizon", "40", "-o", file, "--json"});
  };
  const auto made = generate("--per-policy", "m.h5");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.last()["episodes"], 6);
  EXPECT_EQ(made.last()["environment"], "hopper");
  EXPECT_EQ(names_in("m.h5").size(), 3U);
  ASSERT_EQ(generate("--per-expert", "same.h5").code, 0);
  EXPECT_EQ(kindred::read_text(folder_ / "same.h5"), kindred::read_text(folder_ / "m.h5"));
}

TEST_F(Mixtures, TakeTheirOptions) {
  const auto made = run({"generate", "hopper-mixture", "--experts", "expert-11,medium",
                         "--per-policy", "2", "--horizon", "40", "--shares", "0.25", "--noise",
                         "0.1", "--action-scale", "3", "--duplicate", "2", "-o", "m.h5", "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.last()["episodes"], 4 + 2);
  const auto data = kindred::read_trajectories(folder_ / "m.h5");
  EXPECT_THAT(data.label_names, ::testing::ElementsAre("expert-11", "medium"));
  EXPECT_EQ(data.provenance["mixture"]["noise"], 0.1);
  EXPECT_EQ(data.provenance["mixture"]["action-scale"], 3.0);

  const auto one = run({"generate", "hopper-mixture", "--policies", "1", "--steps", "101", "-o",
                        "one.h5", "--json"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.last()["steps"], 101);
  EXPECT_EQ(names_in("one.h5").size(), 1U);
}

TEST_F(Mixtures, PoliciesOfFurtherTrainingsCanBeNamed) {
  const auto named = run({"generate", "hopper-expert-12-medium", "--steps", "50", "-o", "n.h5"});
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(names_in("n.h5"), ::testing::ElementsAre("expert-12", "medium"));
}

TEST_F(Mixtures, BadInputIsOneSentenceAndCodeTwo) {
  expect_bad_input({"generate", "hopper-mixture", "--policies", "11", "-o", "x.h5"},
                   "there are 10 policies of 'hopper' to mix, not 11");
  expect_bad_input(
      {"generate", "hopper-mixture", "--policies", "2", "--experts", "expert", "-o", "x.h5"},
      "leave out --policies");
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

TEST_F(TrainedExperts, AreStrongBySac) {
  expect_bad_input({"experts", "train", "extra", "--algorithm", "sac"}, "SAC trains hopper");
  expect_bad_input({"experts", "train", "hopper", "--gradients", "3"}, "--gradients");
  if (!kindred::has_mujoco()) GTEST_SKIP() << "*** NOT TESTED: SAC, as this build has no MuJoCo";
  const auto trained = run(
      {"experts", "train",    "hopper", "--algorithm",  "sac", "--steps",     "600", "--start",
       "200",     "--lanes",  "4",      "--lane-steps", "10",  "--gradients", "2",   "--minibatch",
       "20",      "--hidden", "16",     "--horizon",    "50",  "--threads",   "1",   "-o",
       "mine",    "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(trained.last()["trained"].size(), 2U);
  EXPECT_EQ(trained.last()["trained"][1]["expert"], "strong-expert");
  const auto made = run({"generate", "hopper", "--weights", "mine", "--experts",
                         "strong-medium,strong-expert", "--steps", "100", "-o", "h.h5"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(kindred::read_trajectories(folder_ / "h.h5").label_names,
              ::testing::ElementsAre("strong-medium", "strong-expert"));
}

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
