// Every writer on a disk that takes no more at some point. A limit on the size of files stands for
// the disk: it needs no privileges and ends a write in the same way, in the middle.
#include <sys/resource.h>

#include <csignal>

#include "kindred/data/array_file.h"
#include "kindred/data/extract.h"
#include "kindred/data/label_writer.h"
#include "kindred/data/parquet_table.h"
#include "kindred/data/select.h"
#include "kindred/data/undo.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
namespace fs = std::filesystem;

constexpr rlim_t kStep = 1024;

/// Lets no file grow beyond `bytes` while it lives.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

/// Calls write() under growing limits until it succeeds; each time before, it must say why not and
/// leave `folder` as it was. Returns how often it failed.
int expect_all_or_nothing(const fs::path& folder, const std::function<void()>& write) {
  const auto before = contents(folder);
  for (int tries = 0; tries < 1000; ++tries) {
    std::string error;
    {
      const SizeLimit limit(static_cast<rlim_t>(tries) * kStep);
      try {
        write();
      } catch (const IoError& failure) {
        error = failure.what();
      }
    }
    if (error.empty()) return tries;
    EXPECT_THAT(error, ::testing::ContainsRegex("^cannot (write|copy) '[^']*': File too large$"));
    EXPECT_THAT(error, ::testing::Not(::testing::HasSubstr(".partial-")));
    EXPECT_EQ(contents(folder), before);
    if (::testing::Test::HasFailure()) return tries;
  }
  ADD_FAILURE() << "it never succeeds";
  return 0;
}

class FullDisk : public ::testing::TestWithParam<Format> {
 protected:
  Trajectories data_ = make_trajectories({.discrete = true, .episodes = 40});
};

std::string name_of_param(const ::testing::TestParamInfo<Format>& info) {
  return std::string(name_of(info.param));
}

TEST_P(FullDisk, ADatasetIsWrittenWholeOrNotAtAll) {
  const TempDir folder;
  const auto write = [&] { write_trajectories(data_, folder / "new", GetParam()); };
  EXPECT_GT(expect_all_or_nothing(folder.path(), write), 2);
  expect_same_steps(read_trajectories(folder / "new"), data_);
}

TEST_P(FullDisk, PartOfADatasetIsWrittenWholeOrNotAtAll) {
  const TempDir folder;
  write_trajectories(data_, folder / "old", GetParam());
  const auto whole = read_trajectories(folder / "old");
  const std::vector<std::int64_t> episodes{1, 2, 3, 5, 8, 13, 21, 34};
  const auto write = [&] {
    extract_episodes(folder / "old", GetParam(), whole, episodes, folder / "new");
  };
  EXPECT_GT(expect_all_or_nothing(folder.path(), write), 2);
  EXPECT_EQ(read_trajectories(folder / "new").episodes(), 8);
}

TEST_P(FullDisk, LabelsAreWrittenAndUndoneWhollyOrNotAtAll) {
  const TempDir folder;
  write_trajectories(data_, folder / "file", GetParam());
  const auto data = read_trajectories(folder / "file");
  const auto before = contents(folder.path());
  EpisodeLabels labels;
  labels.labels.assign(40, 1);
  const LabelOptions options{.key = "cluster"};
  EXPECT_GT(
      expect_all_or_nothing(
          folder.path(), [&] { write_labels(folder / "file", GetParam(), data, labels, options); }),
      0);
  EXPECT_NE(contents(folder.path()), before);
  expect_all_or_nothing(folder.path(), [&] { undo_labels(folder / "file", GetParam()); });
  EXPECT_EQ(contents(folder.path()), before);
}

INSTANTIATE_TEST_SUITE_P(Formats, FullDisk,
                         ::testing::Values(Format::kD4rl, Format::kMinari, Format::kRobomimic,
                                           Format::kNpz, Format::kKindred),
                         name_of_param);

/// Folders and tables that Kindred does not make but cuts.
class FullDiskOfTables : public ::testing::TestWithParam<std::pair<const char*, Format>> {};

TEST_P(FullDiskOfTables, SegmentsAreWrittenWholeOrNotAtAll) {
  if (!has_parquet()) GTEST_SKIP() << "*** NOT TESTED: this build has no Parquet";
  const auto& [name, format] = GetParam();
  const TempDir folder;
  const auto source = fs::path(KINDRED_FIXTURES) / name;
  const auto data = read_trajectories(source);
  const std::vector<Stretch> stretches{{0, 1, 3}, {1, 0, 2}, {2, 1, 5}};
  const auto write = [&] { extract_stretches(source, format, data, stretches, folder / "new"); };
  EXPECT_GT(expect_all_or_nothing(folder.path(), write), 0);
  EXPECT_EQ(read_trajectories(folder / "new").episodes(), 3);
}

INSTANTIATE_TEST_SUITE_P(Formats, FullDiskOfTables,
                         ::testing::Values(std::pair{"lerobot/v3", Format::kLerobot},
                                           std::pair{"lerobot/v2", Format::kLerobot},
                                           std::pair{"lerobot/v3/data", Format::kParquet},
                                           std::pair{"minari/arrow", Format::kMinari},
                                           std::pair{"minari/parquet", Format::kMinari}));

TEST(FullDiskOfArrays, AnOlderFileStays) {
  const TempDir folder;
  const auto write = [&](double value) {
    ArrayFileWriter file(folder / "state.h5");
    for (int i = 0; i < 20; ++i)
      file.write<double>(fmt::format("group/{}", i), std::vector<double>(100, value));
    file.write_text("text", std::string(5000, 'x'));
    file.close();
  };
  write(1);
  EXPECT_GT(expect_all_or_nothing(folder.path(), [&] { write(2); }), 10);
  EXPECT_EQ(ArrayFileReader(folder / "state.h5").read<double>("group/7").values[0], 2);
}

TEST(FullDiskOfArrays, AWriterGoesAwayQuietlyAfterAnError) {
  const TempDir folder;
  {
    ArrayFileWriter file(folder / "state.h5");
    const SizeLimit limit(0);
    EXPECT_THAT(error_of<IoError>([&] { file.write<double>("x", std::vector<double>(10000)); }),
                ::testing::HasSubstr("state.h5': File too large"));
    EXPECT_THROW(file.write<double>("y", std::vector<double>(10000)), IoError);
    EXPECT_THROW(file.close(), IoError);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace kindred
