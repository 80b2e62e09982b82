#include "kindred/runs/cluster.h"

#include <gmock/gmock.h>

#include "kindred/core/error.h"
#include "tests/runs/finished_run.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using testing::FinishedRun;
using ::testing::HasSubstr;
using testing::message_of;
using End = ClusterOutcome::End;

using ClusterTest = FinishedRun;

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(folder)) names.push_back(file.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST_F(ClusterTest, LeavesAWholeRunAndNothingElse) {
  const auto outcome = run();
  EXPECT_EQ(outcome.end, End::kFinished);
  EXPECT_EQ(files_in(folder_.path()),
            (std::vector<std::string>{"centres.h5", "config.toml", "labels.csv", "run.json",
                                      "scores.h5", "trace.csv"}));
  EXPECT_EQ(read_text(folder_.config()), "k = 2\n");
}

TEST_F(ClusterTest, NeedsTheFileNoLongerOnceItHasBeenRead) {
  RunContext context;
  context.progress = [&](const Progress&) { fs::remove(data_); };
  EXPECT_EQ(run(context).end, End::kFinished);
  EXPECT_FALSE(fs::exists(data_));
  EXPECT_EQ(load_run(folder_).record.dataset["format"], "kindred");
}

TEST_F(ClusterTest, AFailedRunLeavesTheOneBeforeIt) {
  run();
  const auto before = read_text(folder_.record());
  RunContext context;
  context.progress = [](const Progress&) { throw IoError("the disk is on fire"); };
  EXPECT_EQ(message_of([&] { run(context); }), "the disk is on fire");
  EXPECT_EQ(read_text(folder_.record()), before);
  EXPECT_EQ(load_run(folder_).record.k(), 2);
}

TEST_F(ClusterTest, AFailedRunLeavesNoEmptyFolder) {
  RunContext context;
  context.progress = [](const Progress& progress) {
    if (progress.stage == "training") throw IoError("the disk is on fire");
  };
  EXPECT_EQ(message_of([&] { run(context); }), "the disk is on fire");
  EXPECT_FALSE(fs::exists(folder_.path()));
}

TEST_F(ClusterTest, ReplacingARunRemovesWhatBelongedToTheOld) {
  run();
  for (const auto& file : {folder_.evaluation(), folder_.policies(), folder_.report()})
    write_text(file, "old");
  run();
  for (const auto& file : {folder_.evaluation(), folder_.policies(), folder_.report()})
    EXPECT_FALSE(fs::exists(file)) << file;
}

TEST_F(ClusterTest, AsksBeforeItReplacesARun) {
  run();
  const auto before = read_text(folder_.record());
  auto asked = request();
  asked.force = false;
  EXPECT_THAT(message_of<InvalidArgument>([&] { cluster(asked, {}); }),
              HasSubstr("holds a finished run; replace it with --force"));
  EXPECT_EQ(read_text(folder_.record()), before);
  RunContext resumed;
  resumed.resume = true;
  EXPECT_EQ(cluster(asked, resumed).end, End::kWasFinished);
}

TEST_F(ClusterTest, SeveralFilesAreOneDataset) {
  const auto second = (home_ / "second.h5").string();
  write_trajectories(testing::linear_control({}, 2), second, Format::kKindred);
  auto asked = request();
  asked.dataset.files.push_back(second);
  const auto record = cluster(asked, {}).record;
  const auto each = read_trajectories(data_).episodes();
  EXPECT_EQ(record.dataset["episodes"], 2 * each);
  EXPECT_EQ(record.dataset["files"].size(), 2u);
  EXPECT_EQ(load_dataset(record, "").episodes(), 2 * each);
  const auto fitted = load_run(folder_);
  EXPECT_EQ(fitted.episodes.front(), "data/0");
  EXPECT_EQ(fitted.episodes.back(), fmt::format("second/{}", each - 1));

  const auto labelled = load_labelled_dataset(fitted, "", "--data");
  const auto before = read_text(second);
  EXPECT_EQ(write_labels(labelled.options, labelled.dataset, labelled.labels, {}).size(), 2u);
  EXPECT_NE(read_text(second), before);
  EXPECT_EQ(undo_labels(labelled.options.files, Format::kKindred).size(), 2u);
  EXPECT_EQ(read_text(second), before);
  EXPECT_THAT(
      message_of<InvalidArgument>([&] { undo_labels(labelled.options.files, Format::kKindred); }),
      HasSubstr("nothing to undo"));
  EXPECT_THAT(message_of<InvalidArgument>([&] { require_one_file(labelled.dataset); }),
              HasSubstr("the dataset is 2 files"));
  fs::create_directory(home_ / "moved");
  fs::rename(data_, home_ / "moved" / "data.h5");
  fs::rename(second, home_ / "moved" / "second.h5");
  EXPECT_THAT(message_of<InvalidArgument>([&] { load_dataset(record, "", "--data"); }),
              HasSubstr("is not there"));
  EXPECT_EQ(load_dataset(record, (home_ / "moved").string(), "--data").episodes(), 2 * each);
}

TEST_F(ClusterTest, OnlyKnownTruthsAreScored) {
  auto asked = request();
  asked.dataset.truth = (home_ / "truth.csv").string();
  asked.dataset.truth_column = "who";
  asked.dataset.truth_episode_column = "run";
  write_text(asked.dataset.truth, "run,who\n0,ann\n1,bob\n2,ann\n");
  const auto record = cluster(asked, {}).record;
  EXPECT_EQ(record.result["truth_known"], 3);
  EXPECT_TRUE(record.result.contains("nmi"));
}

TEST_F(ClusterTest, RefusesAFolderAnotherProcessIsAtWorkIn) {
  fs::create_directories(folder_.path());
  {
    const RunLock lock(folder_, RunLock::Purpose::kWriting);
    EXPECT_THAT(message_of<InvalidArgument>([&] { run(); }), HasSubstr("another process"));
    EXPECT_TRUE(fs::exists(folder_.path())) << "the folder is the other's";
  }
  EXPECT_EQ(run().end, End::kFinished);
  const RunLock reading(folder_, RunLock::Purpose::kReading);
  EXPECT_EQ(load_run(folder_).record.k(), 2);
  EXPECT_THAT(message_of<InvalidArgument>([&] { run(); }), HasSubstr("another process"));
}

TEST_F(ClusterTest, TakesOverWhatAKilledRunLeft) {
  fs::create_directories(folder_.path() / ".next");
  write_text(folder_.path() / ".next" / "labels.csv", "");
  fs::create_directories(folder_.path() / ".next.partial-1-1");
  write_text(folder_.path() / "state.h5.partial-1-1", "");
  EXPECT_EQ(run().end, End::kFinished);
  EXPECT_FALSE(fs::exists(folder_.path() / ".next"));
  EXPECT_FALSE(fs::exists(folder_.path() / ".next.partial-1-1"));
}

TEST_F(ClusterTest, RefusesFoldersOfOthersAndFiles) {
  fs::create_directories(folder_.path());
  write_text(folder_.path() / "thesis.tex", "do not lose me");
  EXPECT_THAT(message_of<InvalidArgument>([&] { run(); }), HasSubstr("holds other files"));
  auto asked = request();
  asked.folder = RunFolder(data_);
  EXPECT_THAT(message_of<InvalidArgument>([&] { cluster(asked, {}); }), HasSubstr("is a file"));
  fs::create_symlink("loop", home_ / "loop");
  asked.folder = RunFolder(home_ / "loop");
  EXPECT_THAT(message_of<IoError>([&] { cluster(asked, {}); }), HasSubstr("symbolic links"));
}

TEST_F(ClusterTest, StopsAndGoesOnToTheSameLabels) {
  const auto undisturbed = load_run((run(), folder_)).labels;
  remove_tree(folder_.path());
  RunContext context;
  bool stop = false;
  context.progress = [&](const Progress& progress) { stop = progress.stage == "round"; };
  context.stop_requested = [&] { return stop; };
  EXPECT_EQ(run(context).end, End::kStopped);
  EXPECT_TRUE(folder_.can_resume());
  EXPECT_FALSE(folder_.is_finished());
  RunContext resumed;
  resumed.resume = true;
  EXPECT_EQ(run(resumed).end, End::kFinished);
  EXPECT_EQ(load_run(folder_).labels, undisturbed);
  EXPECT_FALSE(folder_.can_resume());
  EXPECT_EQ(run(resumed).end, End::kWasFinished);
}

TEST_F(ClusterTest, ResumesWithItsOwnDataOnly) {
  run();
  write_trajectories(testing::linear_control({}, 2), data_, Format::kKindred);
  RunContext resumed;
  resumed.resume = true;
  EXPECT_THAT(message_of<InvalidArgument>([&] { run(resumed); }),
              HasSubstr("is not the dataset this run was made from"));
}

}  // namespace
}  // namespace kindred
