// Processes that die, stop or fail in the middle of a run: the others end soon and say who it was,
// and the run goes on with another number of processes to the same answer.
#include <chrono>
#include <thread>

#include "rank_processes.h"

namespace kindred::ranks {
namespace {

using Clock = std::chrono::steady_clock;

class Faults : public Ranks {
 protected:
  void SetUp() override {
    Ranks::SetUp();
    run_one({"generate", "diagonal", "--per-expert", "1000", "--seed", "1", "-o", "d.h5"});
  }

  Arguments into(const std::string& folder) const {
    return {"cluster",  "d.h5", "-k",     "6", "--merge-to", "5", "--restarts", "3",
            "--policy", "mlp",  "--seed", "3", "--patience", "3", "-o",         folder};
  }

  /// What the other ranks say when something happens to one of three in the middle of the run.
  std::vector<Answer> after(int number, std::size_t victim) const {
    const auto ranks = start_ranks(3, into("run"));
    for (int i = 0; i < 3000 && !fs::exists(folder_ / "run/state.h5"); ++i)  // a minute
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto begin = Clock::now();
    ::kill(ranks[victim], number);
    std::vector<Answer> others;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      if (r != victim) others.push_back(finish(ranks[r], static_cast<std::int64_t>(r)));
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
    ::kill(ranks[victim], SIGKILL);
    finish(ranks[victim], static_cast<std::int64_t>(victim));
    return others;
  }

  void expect_named(const std::vector<Answer>& others, std::size_t victim) const {
    for (const auto& other : others) {
      EXPECT_EQ(other.code, 3) << other.err;
      EXPECT_THAT(other.err, HasSubstr("rank " + std::to_string(victim)));
      const auto line = other.err.find("kindred: ");  // before it the first rank told its progress
      ASSERT_NE(line, std::string::npos) << other.err;
      EXPECT_EQ(std::ranges::count(other.err.substr(line), '\n'), 1) << other.err;
    }
    EXPECT_FALSE(fs::exists(folder_ / "run/run.json"));
  }
};

TEST_F(Faults, AKilledRankIsNamedAndTheRunGoesOn) {
  expect_named(after(SIGKILL, 1), 1);
  auto resumed = into("run");
  resumed.emplace_back("--resume");
  run_ranks(2, resumed);
  run_one(into("straight"));
  expect_same_answer("run", "straight");
}

TEST_F(Faults, ARankThatDiesBeforeItJoinsIsNamed) {
  const auto ranks = start_ranks(2, into("run"));
  ::kill(ranks[0], SIGKILL);
  finish(ranks[0], 0);
  const auto other = finish(ranks[1], 1);
  EXPECT_EQ(other.code, 3) << other.err;
  EXPECT_THAT(other.err, HasSubstr("rank 0 at 127.0.0.1"));
}

TEST_F(Faults, AStoppedRankIsNamed) { expect_named(after(SIGSTOP, 2), 2); }

TEST_F(Faults, TheFirstRankIsNamedWhenItDies) { expect_named(after(SIGKILL, 0), 0); }

TEST_F(Faults, TheFirstRankIsNamedWhenItStops) { expect_named(after(SIGSTOP, 0), 0); }

TEST_F(Faults, ARankThatCannotReadItsDataIsNamed) {
  const auto address = free_address();
  const auto with = [&](const std::string& file, const std::string& rank) {
    return Arguments{"cluster", file, "-k",      "5", "-o",        "run",
                     "--rank",  rank, "--ranks", "2", "--address", address};
  };
  const auto first = start(with("d.h5", "0"), 0), second = start(with("missing.h5", "1"), 1);
  const auto other = finish(second, 1);
  EXPECT_EQ(other.code, 2);
  const auto answer = finish(first, 0);
  EXPECT_EQ(answer.code, 3);
  EXPECT_THAT(answer.err, HasSubstr("rank 1 on "));
  EXPECT_THAT(answer.err, HasSubstr("missing.h5"));
}

TEST_F(Faults, AFullDiskOfTheFirstRankEndsAll) {
  // A folder that cannot be made stands for a disk that takes nothing.
  auto arguments = into("/dev/full/run");
  const auto answers = finish(start_ranks(2, arguments));
  EXPECT_EQ(answers[0].code, 2) << answers[0].err;
  EXPECT_EQ(answers[1].code, 3) << answers[1].err;
  EXPECT_THAT(answers[1].err, HasSubstr("rank 0 on "));
}

}  // namespace
}  // namespace kindred::ranks
