// --memory and convert: the same answers within a budget, from every format.
#include "kindred/data/formats.h"
#include "kindred/data/parquet_table.h"
#include "program.h"

namespace kindred::program {
namespace {

class MemoryProgram : public Program {
 protected:
  std::string file(const std::string& name) const { return kindred::read_text(folder_ / name); }

  /// A small world of numbers, in one of the formats Kindred writes.
  std::string make(const std::string& format, const std::string& seed = "1") const {
    const auto name = "data-" + format + seed;
    const auto outcome = run({"generate", "path-following", "--per-expert", "12", "--seed", seed,
                              "--format", format, "-o", name});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return name;
  }

  json record(const std::string& name) const { return json::parse(file(name + "/run.json")); }

  void cluster(const std::vector<std::string>& files, const std::string& name,
               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"cluster"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    for (const char* word : {"--restarts", "4", "--threads", "2", "-o"}) arguments.push_back(word);
    arguments.push_back(name);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto outcome = run(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  void expect_same_answer(const std::string& a, const std::string& b) const {
    EXPECT_EQ(file(a + "/labels.csv"), file(b + "/labels.csv"));
    EXPECT_EQ(record(a)["result"], record(b)["result"]);
    EXPECT_EQ(record(a)["dataset"]["fingerprint"], record(b)["dataset"]["fingerprint"]);
  }
};

TEST_F(MemoryProgram, EveryFormatGivesTheSameAnswerWithinABudgetAndConverted) {
  for (const std::string format : {"kindred", "d4rl", "minari", "robomimic", "npz"}) {
    SCOPED_TRACE(format);
    const auto data = make(format);
    cluster({data}, format + "-free");
    cluster({data}, format + "-kept", {"--memory", "600MB"});
    expect_same_answer(format + "-free", format + "-kept");
    const auto kept = record(format + "-kept")["machine"];
    EXPECT_EQ(kept["memory_mb"], 600.0);
    EXPECT_LE(kept["peak_rss_mb"].get<double>(), 600.0);
    EXPECT_FALSE(record(format + "-free")["machine"].contains("memory_mb"));

    const auto converted =
        run({"convert", data, "-o", format + ".h5", "--memory", "600MB", "--json"});
    ASSERT_EQ(converted.code, 0) << converted.err;
    EXPECT_EQ(converted.last()["from"], format);
    cluster({format + ".h5"}, format + "-converted");
    expect_same_answer(format + "-free", format + "-converted");
    EXPECT_EQ(record(format + "-converted")["dataset"]["format"], "kindred");
  }
}

TEST_F(MemoryProgram, SeveralFilesAndLerobotAreConvertedToo) {
  const auto a = make("d4rl"), b = make("d4rl", "2");
  cluster({a, b}, "free");
  cluster({a, b}, "kept", {"--memory", "600MB"});
  expect_same_answer("free", "kept");
  ASSERT_EQ(run({"convert", a, b, "-o", "all.h5"}).code, 0);
  cluster({"all.h5"}, "converted");
  expect_same_answer("free", "converted");

  if (!has_parquet()) return;
  const auto lerobot = (fs::path(KINDRED_FIXTURES) / "lerobot" / "v3").string();
  ASSERT_EQ(run({"convert", lerobot, "-o", "lerobot.h5", "--memory", "600MB"}).code, 0);
  const auto before = read_trajectories(lerobot);
  const auto after = read_trajectories(folder_ / "lerobot.h5");
  EXPECT_EQ(after.ids, before.ids);
  EXPECT_EQ(after.observation_names, before.observation_names);
  EXPECT_EQ(after.action_names, before.action_names);
  EXPECT_TRUE(std::ranges::equal(after.labels, before.labels));
  EXPECT_EQ(after.label_names, before.label_names);
  EXPECT_TRUE(std::ranges::equal(after.observations.floats(), before.observations.floats()));
  EXPECT_TRUE(std::ranges::equal(after.actions.floats(), before.actions.floats()));
}

TEST_F(MemoryProgram, ConvertingKeepsTheTruthThatIsGiven) {
  const auto data = make("npz");
  ASSERT_EQ(run({"convert", data, "-o", "one.h5", "--truth-boundary", "0", "--sample", "20"}).code,
            2);
  EXPECT_FALSE(fs::exists(folder_ / "one.h5"));
  ASSERT_EQ(run({"convert", data, "-o", "two.h5", "--sample", "20"}).code, 0);
  const auto shown = run({"info", "two.h5", "--memory", "600MB", "--json"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.last()["episodes"], 20);
  EXPECT_FALSE(shown.last()["labels"].is_null());
}

TEST_F(MemoryProgram, AssignsTheSameWithinABudget) {
  const auto data = make("npz");
  cluster({data}, "run");
  ASSERT_EQ(run({"assign", "run", data, "-o", "free.csv"}).code, 0);
  ASSERT_EQ(run({"assign", "run", data, "-o", "kept.csv", "--memory", "600MB"}).code, 0);
  EXPECT_EQ(file("free.csv"), file("kept.csv"));
}

/// What is known of a finished run says the same within a budget, of data that has to be unpacked.
class MemoryOfARun : public MemoryProgram {
 protected:
  void SetUp() override {
    MemoryProgram::SetUp();
    data_ = make("npz");
    cluster({data_}, "run");
  }

  /// Runs a command with and without a budget, and returns what it left each time.
  template <class Left>
  auto both(const std::vector<std::string>& command, const Left& left) const {
    const auto outcome = run(command);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto free = left();
    auto within = command;
    within.insert(within.end(), {"--memory", "600MB"});
    const auto kept = run(within);
    EXPECT_EQ(kept.code, 0) << kept.err;
    return std::pair{free, left()};
  }

  std::string data_;
};

TEST_F(MemoryOfARun, IsReportedTheSame) {
  const auto [free, kept] = both({"report", "run", "--record", "record.json"}, [&] {
    auto record = json::parse(file("record.json"));
    record.erase("made");
    return record;
  });
  EXPECT_EQ(free, kept);
}

TEST_F(MemoryOfARun, IsWrittenIntoItsDatasetTheSame) {
  const auto labelled = [&] {
    auto found = file("labels.npz");
    EXPECT_EQ(run({"label", "run", "--into", "labels.npz", "--undo"}).code, 0);
    return found;
  };
  fs::copy_file(folder_ / data_, folder_ / "labels.npz");
  const auto [free, kept] = both({"label", "run", "--into", "labels.npz"}, labelled);
  EXPECT_EQ(free, kept);
  EXPECT_EQ(file("labels.npz"), file(data_));
}

TEST_F(MemoryOfARun, IsEvaluatedTheSame) {
  const auto [free, kept] =
      both({"evaluate", "run", "--episodes", "2", "--rounds", "1", "--continue", "0", "--env",
            "path-following", "--best", "0", "--labelled", "0"},
           [&] {
             auto found = json::parse(file("run/evaluation.json"));
             found.erase("seconds");
             return found;
           });
  EXPECT_EQ(free, kept);
}

TEST_F(MemoryOfARun, IsCutIntoSegmentsTheSame) {
  const auto [free, kept] = both({"segment", data_, "-o", "segments", "--force", "-k", "2"}, [&] {
    return std::pair{file("segments/segments.csv"),
                     json::parse(file("segments/segments.json"))["result"]};
  });
  EXPECT_EQ(free, kept);
}

TEST_F(MemoryOfARun, RefusesBudgetsTheProgramAloneTakes) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"report", "run"}, {"label", "run"}, {"evaluate", "run"}, {"segment", data_}}) {
    auto within = command;
    within.insert(within.end(), {"--memory", "3MB"});
    expect_bad_input(within, "3 MB of memory are too little: the program alone takes");
  }
  EXPECT_FALSE(fs::exists(folder_ / "run" / "report.html"));
}

TEST_F(MemoryProgram, NetworksDrawFromABufferWhereABudgetHasNoRoom) {
  const auto data = make("kindred");
  const std::vector<std::string> networks{"-k", "2", "--policy", "mlp", "--max-rounds", "2"};
  const auto buffer = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.end(), networks.begin(), networks.end());
    cluster({data}, name, more);
    return record(name)["options"]["buffer-steps"].get<std::int64_t>();
  };
  EXPECT_EQ(buffer("free", {}), 0);
  EXPECT_EQ(buffer("kept", {"--memory", "600MB"}), 0);
  expect_same_answer("free", "kept");
  EXPECT_EQ(buffer("some", {"--buffer-steps", "300"}), 300);
  EXPECT_EQ(buffer("all", {"--buffer-steps", "100000000"}), 0);
  expect_same_answer("free", "all");
}

TEST_F(MemoryProgram, ClonesDrawFromABufferWhereABudgetHasNoRoom) {
  ASSERT_EQ(run({"generate", "path-following", "--per-expert", "7000", "-o", "large"}).code, 0);
  cluster({"large"}, "run", {"-k", "2"});
  const auto evaluation = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "evaluate", "run",    "--env", "path-following", "--episodes", "1",         "--rounds",
        "1",        "--best", "0",     "--labelled",     "0",          "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(file("run/evaluation.json"));
  };
  const auto losses = [](const json& found) {
    std::vector<double> all;
    for (const char* policies : {"clusters", "references"})
      for (const auto& policy : found[policies]) all.push_back(policy["training"]["loss"]);
    return all;
  };
  // 2,100,000 steps of eight floats: 67 MB.
  const auto free = evaluation({}), kept = evaluation({"--memory", "130MB"});
  EXPECT_EQ(free["options"]["buffer-steps"], 0);
  EXPECT_EQ(kept["options"]["buffer-steps"], 130'000'000 / 4 / 32);
  EXPECT_NE(losses(free), losses(kept));
}

TEST_F(MemoryProgram, SaysWhatIsWrongInOneSentence) {
  const auto data = make("kindred");
  expect_bad_input({"cluster", data, "--memory", "much", "-o", "run"},
                   "option 'memory' takes a size such as 2GB or 500MB, or 'none', not 'much'");
  expect_bad_input({"cluster", data, "--memory", "3MB", "-o", "run"},
                   "3 MB of memory are too little: the program alone takes");
  expect_bad_input({"info", data, "--memory", "1GB", "--scratch", "/dev/shm"},
                   "keeps its files in memory");
  expect_bad_input({"convert", "nothing.h5", "-o", "x.h5"}, "nothing.h5");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  EXPECT_FALSE(fs::exists(folder_ / "x.h5"));
}

}  // namespace
}  // namespace kindred::program
