// Files of strangers, several files at once, and runs that are not to be lost.
#include "kindred/data/formats.h"
#include "kindred/data/npy.h"
#include "kindred/data/zip.h"
#include "program.h"

namespace kindred::program {
namespace {

class Strangers : public Program {
 protected:
  /// A file of three padded episodes.
  void make_padded() const {
    kindred::zip::Writer archive(folder_ / "p.npz");
    kindred::npy::ArrayWriter file(archive);
    std::vector<float> seen(3 * 4 * 2);
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = static_cast<float>(i * i % 7);
    file.write<float>("obs_array", seen, {3, 4, 2});
    file.write<float>("act_array", std::vector<float>(3 * 4, 1.0F), {3, 4, 1});
    file.write<float>("mask_array", std::vector<float>{1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1}, {3, 4});
    archive.close();
  }
};

TEST_F(Strangers, FilesAreReadByTheNamesOfTheirArrays) {
  make_padded();
  expect_bad_input({"info", "p.npz"},
                   "--obs-key obs_array --action-key act_array --mask-key mask_array");
  const std::vector<std::string> named = {"info",         "p.npz",      "--obs-key", "obs_array[1]",
                                          "--action-key", "act_array",  "--obs-key", "obs_array[0]",
                                          "--mask-key",   "mask_array", "--json"};
  const auto told = run(named);
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.last()["episodes"], 3);
  EXPECT_EQ(told.last()["steps"], 9);
  EXPECT_EQ(told.last()["observation_names"], json::array({"obs_array[1]", "obs_array[0]"}));
  EXPECT_THAT(told.err, HasSubstr("obs_array[1], obs_array[0]"));
  auto before = named;
  std::ranges::replace(before, std::string("--obs-key"), std::string("--observation-keys"));
  EXPECT_EQ(run(before).last()["observation_names"], told.last()["observation_names"]);
}

TEST_F(Strangers, SeveralFilesAreOneDataset) {
  make_diagonal("20");
  ASSERT_EQ(run({"generate", "diagonal", "--per-expert", "20", "--seed", "2", "-o", "e.h5"}).code,
            0);
  EXPECT_EQ(run({"info", "d.h5", "e.h5", "--json"}).last()["episodes"], 200);
  const auto found =
      run({"cluster", "d.h5", "e.h5", "-k", "2", "--policy", "tabular", "-o", "run"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(
      run({"cluster", "--config", "run/config.toml", "-o", "again", "--json"}).last()["episodes"],
      200);
  EXPECT_EQ(run({"report", "run"}).code, 0);
  const auto labelled = run({"label", "run", "--json"});
  ASSERT_EQ(labelled.code, 0) << labelled.err;
  EXPECT_EQ(labelled.last()["written"].size(), 2u);
  EXPECT_EQ(run({"label", "run", "--undo", "--json"}).last()["undone"].size(), 2u);
  expect_bad_input({"split", "run", "-o", "parts"}, "the dataset is 2 files");
  make_padded();
  expect_bad_input({"info", "d.h5", "p.npz", "--format", "kindred"}, "p.npz");
}

TEST_F(Strangers, RunsAreReplacedWhenAskedOnly) {
  make_diagonal("10");
  const std::vector<std::string> ask = {"cluster",  "d.h5",    "-k", "2",
                                        "--policy", "tabular", "-o", "run"};
  ASSERT_EQ(run(ask).code, 0);
  expect_bad_input(ask, "holds a finished run; replace it with --force");
  auto forced = ask;
  forced.emplace_back("--force");
  EXPECT_EQ(run(forced).code, 0);
}

TEST_F(Strangers, MinariDatasetsAreFoundByTheirIds) {
  make_diagonal("5");
  fs::create_directories(folder_ / "kept/walks");
  kindred::write_trajectories(kindred::read_trajectories(folder_ / "d.h5"),
                              folder_ / "kept/walks/mixed-v0", kindred::Format::kMinari);
  expect_bad_input({"info", "walks/mixed-v0"}, "walks/mixed-v0");
  ::setenv("MINARI_DATASETS_PATH", (folder_ / "kept").c_str(), 1);
  EXPECT_EQ(run({"info", "walks/mixed-v0", "--json"}).last()["episodes"], 25);
  ::unsetenv("MINARI_DATASETS_PATH");
}

TEST_F(Strangers, SomeTruthsAreScored) {
  make_diagonal("10");
  kindred::write_text(folder_ / "some.csv", "take,who\n0,ann\n1,ann\n49,tim\n");
  const auto told = run({"info", "d.h5", "--truth", "some.csv", "--truth-column", "who",
                         "--truth-episode-column", "take", "--json"});
  ASSERT_EQ(told.code, 0) << told.err;
  EXPECT_EQ(told.last()["labels"]["known"], 3);
  EXPECT_THAT(told.err, HasSubstr("known of 3 episodes"));
  ASSERT_EQ(run({"cluster", "d.h5", "-k", "2", "--policy", "tabular", "-o", "run"}).code, 0);
  const auto scored = run({"score", "run", "--truth", "some.csv", "--truth-column", "who",
                           "--truth-episode-column", "take", "--json"});
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_TRUE(scored.last().contains("nmi"));
}

}  // namespace
}  // namespace kindred::program
