// A run has the same answer, bit by bit, whatever the number of processes.
#include <cstdlib>

#include "rank_processes.h"

namespace kindred::ranks {
namespace {

class SameAnswer : public Ranks {
 protected:
  /// One process, two and three.
  void expect_same(Arguments arguments) const {
    arguments.insert(arguments.begin(), "cluster");
    arguments.emplace_back("-o");
    auto one = arguments;
    one.emplace_back("one");
    ASSERT_NO_FATAL_FAILURE(run_one(one));
    for (const std::int64_t count : {2, 3}) {
      const auto name = "ranks-" + std::to_string(count);
      auto several = arguments;
      several.push_back(name);
      ASSERT_NO_FATAL_FAILURE(run_ranks(count, several));
      expect_same_answer(name, "one");
      EXPECT_EQ(record(name)["machine"]["ranks"], count);
    }
  }
};

TEST_F(SameAnswer, Tables) {
  run_one({"generate", "diagonal", "--per-expert", "60", "--seed", "1", "-o", "d.h5"});
  expect_same({"d.h5", "--restarts", "6"});
}

TEST_F(SameAnswer, WhoActedWhen) {
  run_one({"generate", "path-following", "--per-expert", "12", "--seed", "1", "--format", "d4rl",
           "-o", "p.hdf5"});
  run_one({"segment", "p.hdf5", "-o", "one"});
  for (const std::int64_t count : {2, 3}) {
    const auto name = "ranks-" + std::to_string(count);
    ASSERT_NO_FATAL_FAILURE(run_ranks(count, {"segment", "p.hdf5", "-o", name}));
    for (const auto* file : {"segments.csv", "unsure.csv", "idle.csv"})
      EXPECT_EQ(text(name + "/" + file), text(std::string("one/") + file)) << file;
    const auto found = nlohmann::json::parse(text(name + "/segments.json"));
    EXPECT_EQ(found["result"], nlohmann::json::parse(text("one/segments.json"))["result"]);
    EXPECT_EQ(found["machine"]["ranks"], count);
  }
}

TEST_F(SameAnswer, UnderTorchrun) {
  const std::string torchrun = "/usr/bin/python3 -m torch.distributed.run";
  if (std::system((torchrun + " --help > /dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "Debian's python3-torch is not installed";
  run_one({"generate", "diagonal", "--per-expert", "60", "--seed", "1", "-o", "d.h5"});
  run_one({"cluster", "d.h5", "--restarts", "6", "-o", "one"});
  // Torch 1.13 on Python 3.11 starts nothing unless it is told where the output goes.
  const auto command = "cd " + folder_.string() + " && " + torchrun +
                       " -r 1 -t 1 --no_python --nproc_per_node 3 " KINDRED_PROGRAM
                       " cluster d.h5 --restarts 6 -o agent > log 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << text("log");
  expect_same_answer("agent", "one");
}

TEST_F(SameAnswer, TablesOfWhichMostEpisodesAreNotSearched) {
  run_one({"generate", "diagonal", "--per-expert", "1000", "--seed", "1", "-o", "d.h5"});
  expect_same({"d.h5", "-k", "5", "--restarts", "2"});
}

TEST_F(SameAnswer, TablesFromAFileThatDoesNotSayWhatRepeats) {
  run_one({"generate", "diagonal", "--per-expert", "40", "--seed", "1", "--format", "d4rl", "-o",
           "d.hdf5"});
  expect_same({"d.hdf5", "-k", "5", "--restarts", "4"});
}

TEST_F(SameAnswer, Features) {
  run_one({"generate", "path-following", "--per-expert", "40", "--seed", "1", "--format", "d4rl",
           "-o", "p.hdf5"});
  expect_same({"p.hdf5", "--restarts", "6"});
}

TEST_F(SameAnswer, FeaturesOfSomeEpisodesOfSeveralFiles) {
  for (const std::string seed : {"1", "2", "3"})
    run_one({"generate", "path-following", "--per-expert", "30", "--seed", seed, "--format", "d4rl",
             "-o", "part-" + seed + ".hdf5"});
  expect_same({"part-1.hdf5", "part-2.hdf5", "part-3.hdf5", "-k", "3", "--restarts", "4",
               "--sample", "150"});
}

TEST_F(SameAnswer, NetworksOnCounts) {
  run_one({"generate", "diagonal", "--per-expert", "40", "--seed", "1", "-o", "d.h5"});
  expect_same({"d.h5", "-k", "6", "--merge-to", "5", "--policy", "mlp", "--restarts", "3",
               "--max-rounds", "4", "--max-steps", "60"});
}

TEST_F(SameAnswer, NetworksOnBatches) {
  run_one({"generate", "path-following", "--per-expert", "20", "--seed", "1", "--format", "d4rl",
           "-o", "p.hdf5"});
  expect_same({"p.hdf5", "-k", "3", "--policy", "mlp", "--restarts", "2", "--max-rounds", "3",
               "--max-steps", "40", "--hidden", "16"});
}

TEST_F(SameAnswer, NetworksOnBatchesFromABuffer) {
  run_one({"generate", "path-following", "--per-expert", "20", "--seed", "1", "--format", "d4rl",
           "-o", "p.hdf5"});
  expect_same({"p.hdf5", "-k", "3", "--policy", "mlp", "--restarts", "2", "--max-rounds", "3",
               "--max-steps", "40", "--hidden", "16", "--buffer-steps", "500"});
  EXPECT_EQ(record("one")["options"]["buffer-steps"], 500);
}

TEST_F(SameAnswer, TablesByTheObjective) {
  run_one({"generate", "diagonal", "--per-expert", "40", "--seed", "1", "-o", "d.h5"});
  expect_same({"d.h5", "-k", "5", "--policy", "tabular", "--choose", "objective"});
}

TEST_F(SameAnswer, Sorl) {
  run_one({"generate", "diagonal", "--per-expert", "20", "--seed", "1", "-o", "d.h5"});
  expect_same({"d.h5", "--method", "sorl", "-k", "3", "--restarts", "2", "--max-rounds", "3",
               "--hidden", "16"});
}

TEST_F(SameAnswer, AutoencodersOfSeveralRestarts) {
  run_one({"generate", "diagonal", "--per-expert", "10", "--seed", "1", "-o", "d.h5"});
  expect_same({"d.h5", "--method", "caae", "-k", "3", "--restarts", "2", "--max-steps", "30"});
  EXPECT_EQ(record("ranks-2")["machine"]["shared"], "policies");
}

TEST_F(SameAnswer, AnAutoencoderThatIsTrainedTogether) {
  run_one({"generate", "diagonal", "--per-expert", "60", "--seed", "1", "-o", "d.h5"});
  expect_same({"d.h5", "--method", "caae", "-k", "3", "--max-steps", "60", "--batch-trajectories",
               "256"});  // 16 parts
  EXPECT_EQ(record("ranks-3")["machine"]["shared"], "batches");
}

TEST_F(SameAnswer, AnAutoencoderWithLayersBetweenEncoderAndDecoder) {
  run_one({"generate", "path-following", "--per-expert", "60", "--seed", "1", "-o", "p.h5"});
  expect_same({"p.h5", "--method", "vae-kmeans", "-k", "3", "--max-steps", "4",
               "--batch-trajectories", "48"});  // three parts
  EXPECT_EQ(record("ranks-2")["machine"]["shared"], "batches");
}

TEST_F(SameAnswer, Planes) {
  run_one({"generate", "extra", "--per-expert", "4", "--seed", "1", "-o", "e.h5"});
  expect_same({"e.h5", "-k", "2"});
  EXPECT_EQ(record("ranks-2")["machine"]["shared"], "policies");
}

TEST_F(SameAnswer, WhatLooksOddIsSaidOrNamed) {
  run_one({"generate", "diagonal", "--per-expert", "60", "--seed", "1", "-o", "d.h5"});
  const auto first = finish(start_ranks(2, {"cluster", "d.h5", "--restarts", "2", "-o", "r"}))[0];
  EXPECT_THAT(first.err, HasSubstr("one process has to look for: kindred info d.h5"));
  EXPECT_TRUE(record("r")["dataset"]["doctor"].is_null());  // a report looks for itself
  run_ranks(2, {"cluster", "d.h5", "--method", "return-kmeans", "-k", "2", "-o", "all"});
  EXPECT_TRUE(record("all")["dataset"]["doctor"].is_array());  // all episodes are there
}

}  // namespace
}  // namespace kindred::ranks
