// Segments written into datasets, and cut out of them.
#include "kindred/core/random.h"
#include "kindred/data/formats.h"
#include "program.h"

namespace kindred::program {
namespace {

constexpr std::int64_t kEpisodes = 30, kLength = 120;

/// Two linear controllers; in every other episode the second takes over after the first half.
Trajectories taken_over() {
  Random random(3, "test");
  std::vector<float> seen, done;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint8_t> timeouts;
  Trajectories data;
  for (std::int64_t i = 0; i < kEpisodes; ++i) {
    for (std::int64_t t = 0; t < kLength; ++t) {
      const auto x = static_cast<float>(random.normal()), y = static_cast<float>(random.normal());
      const bool second = i % 2 == 1 && t >= kLength / 2;
      seen.insert(seen.end(), {x, y});
      done.push_back((second ? y - x : x + y) + 0.1F * static_cast<float>(random.normal()));
      timeouts.push_back(t + 1 == kLength);
    }
    offsets.push_back(offsets.back() + kLength);
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = std::move(offsets);
  data.observations = Observations::dense(std::move(seen), 2);
  data.actions = Actions::continuous(std::move(done), 1);
  data.terminals = std::vector<std::uint8_t>(timeouts.size(), 0);
  data.timeouts = std::move(timeouts);
  return data;
}

class Segmented : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    write_trajectories(taken_over(), folder_ / "d.hdf5", Format::kD4rl);
    original_ = read_text(folder_ / "d.hdf5");
    const auto found = run({"segment", "d.hdf5", "-o", "found", "--json"});
    ASSERT_EQ(found.code, 0) << found.err;
    ASSERT_EQ(found.last()["k"], 2);
    ASSERT_EQ(found.last()["switches"], kEpisodes / 2);
  }

  std::string original_;
};

TEST_F(Segmented, IntoTheDatasetAndOutAgain) {
  const auto labelled = run({"label", "found", "--json"});
  ASSERT_EQ(labelled.code, 0) << labelled.err;
  EXPECT_EQ(labelled.last()["of"], "steps");
  EXPECT_EQ(labelled.last()["labelled"], kEpisodes * kLength);
  EXPECT_THAT(read_text(folder_ / "d.policy.csv"), HasSubstr("episode,start,end,policy\n0,0,120,"));
  const auto read = read_trajectories(folder_ / "d.hdf5");
  EXPECT_TRUE(read.labels.empty() && read.actors.empty()) << "what was found is not the truth";
  EXPECT_EQ(run({"label", "found", "--undo"}).code, 0);
  EXPECT_TRUE(read_text(folder_ / "d.hdf5") == original_);
  EXPECT_FALSE(fs::exists(folder_ / "d.policy.csv"));
  expect_bad_input({"label", "found", "--undo"}, "nothing to undo");
  fs::remove(folder_ / "found/segments.json");
  expect_bad_input({"label", "found"}, "found");
}

TEST_F(Segmented, NothingIsReplacedUnasked) {
  const auto before = read_text(folder_ / "found/segments.json");
  expect_bad_input({"segment", "d.hdf5", "-o", "found"}, "--force");
  EXPECT_EQ(read_text(folder_ / "found/segments.json"), before);
  EXPECT_EQ(run({"segment", "d.hdf5", "-o", "found", "--force", "--seed", "1"}).code, 0);
  EXPECT_NE(read_text(folder_ / "found/segments.json"), before);
  fs::create_directory(folder_ / "busy");
  write_text(folder_ / "busy/thesis.txt", "mine");
  expect_bad_input({"segment", "d.hdf5", "-o", "busy"}, "holds other things");
  expect_bad_input({"segment", "d.hdf5", "-o", "busy/thesis.txt"}, "holds other things");
  EXPECT_EQ(read_text(folder_ / "busy/thesis.txt"), "mine");
}

TEST_F(Segmented, CutIntoEpisodesOfTheirOwn) {
  const auto second = [&](const std::string& policy, const std::string& least,
                          const std::string& name) {
    return run(
        {"filter", "found", "--policy", policy, "--min-length", least, "-o", name, "--json"});
  };
  std::int64_t steps = 0;
  for (const std::string policy : {"0", "1"}) {
    const auto cut = second(policy, "1", "part-" + policy + ".hdf5");
    ASSERT_EQ(cut.code, 0) << cut.err;
    const auto part = read_trajectories(folder_ / ("part-" + policy + ".hdf5"));
    EXPECT_EQ(part.episodes(), cut.last()["episodes"]);
    EXPECT_EQ(part.steps(), cut.last()["steps"]);
    EXPECT_EQ(part.episodes() % (kEpisodes / 2), 0);
    for (std::int64_t i = 0; i < part.episodes(); ++i)
      EXPECT_NEAR(static_cast<double>(part.length(i)), part.length(i) > 90 ? 120 : 60, 3);
    steps += part.steps();
  }
  EXPECT_EQ(steps, kEpisodes * kLength);
  expect_bad_input({"filter", "found", "--policy", "2", "-o", "x.hdf5"}, "no policy 2");
  expect_bad_input({"filter", "found", "--clusters", "1", "-o", "x.hdf5"}, "--policy");
  expect_bad_input({"filter", "found", "--policy", "1", "--min-length", "121", "-o", "x.hdf5"},
                   "has at least 121 steps");
  EXPECT_FALSE(fs::exists(folder_ / "x.hdf5"));
  EXPECT_TRUE(read_text(folder_ / "d.hdf5") == original_);
}

}  // namespace
}  // namespace kindred::program
