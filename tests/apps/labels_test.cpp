// Labels written into datasets, and datasets made by them.
#include "kindred/data/formats.h"
#include "kindred/data/truth.h"
#include "program.h"

namespace kindred::program {
namespace {

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
      << "labels that were found are not the truth";
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
  expect_bad_input({"label", "run", "--into", "other.hdf5"},
                   "is not the dataset this run was made from");
  auto twin = kindred::read_trajectories(folder_ / "moved.hdf5");  // of the same shape
  const auto taken = twin.actions.ints().span();
  std::vector<std::int32_t> actions(taken.begin(), taken.end());
  std::ranges::reverse(actions);
  twin.actions = kindred::Actions::discrete(std::move(actions), twin.actions.count());
  kindred::write_trajectories(twin, folder_ / "twin.hdf5", kindred::Format::kD4rl);
  expect_bad_input({"label", "run", "--into", "twin.hdf5"},
                   "is not the dataset this run was made from");
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

}  // namespace
}  // namespace kindred::program
