// A process that promised to stay within a budget stays there, reads the same and says when it
// cannot.
#include "kindred/data/memory_promise.h"

#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "kindred/core/resources.h"
#include "kindred/data/join.h"
#include "kindred/data/mapping.h"
#include "kindred/data/mind_memory.h"
#include "kindred/data/sparse.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::int64_t kMega = 1'000'000;

std::int64_t resident() { return ResidentMemory().look(); }

ReadOptions as_it_is() {
  ReadOptions options;
  options.interning = Interning::kNever;
  return options;
}

/// Tests run where files are on a disk; else there is nothing to promise.
class PromiseTest : public ::testing::Test {
 protected:
  const TempDir folder_;
  const MemoryPromise promise_{resident() + 300 * kMega, folder_.path()};
};

TEST_F(PromiseTest, EveryFormatReadsTheSameIntoScratchFiles) {
  const auto data = make_trajectories({.episodes = 400, .dim = 20});
  for (const auto format : kFormats) {
    const auto path = folder_ / std::string(name_of(format));
    write_trajectories(data, path, format);
    const auto found = read_trajectories(path);
    expect_same_steps(found, data);
    EXPECT_TRUE(fs::exists(path));
  }
}

TEST_F(PromiseTest, ScratchFilesHaveNoName) {
  const NewColumn<float> column(1'000'000, false);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(PromiseTest, ColumnsOutliveIt) {
  Column<float> column;
  {
    const MemoryPromise inner(resident() + 200 * kMega, folder_.path());
    NewColumn<float> made(100'000, false);
    std::ranges::fill(made.span(), 3.0f);
    column = made.column();
  }
  EXPECT_TRUE(std::ranges::all_of(column, [](float x) { return x == 3.0f; }));
}

TEST_F(PromiseTest, GrowingVectorsKeepTheirValues) {
  StepValues<std::int64_t> values;
  for (std::int64_t i = 0; i < 300'000; ++i) values.push_back(i);
  for (std::int64_t i = 0; i < 300'000; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], i);
}

TEST_F(PromiseTest, FilesOfOneDatasetAreJoinedInScratchFiles) {
  const auto data = make_trajectories({.episodes = 2000});
  write_trajectories(data, folder_ / "a", Format::kKindred);
  write_trajectories(data, folder_ / "b", Format::kNpz);
  const std::vector<Trajectories> parts{read_trajectories(folder_ / "a"),
                                        read_trajectories(folder_ / "b")};
  const std::vector<std::string> names{"a", "b"};
  const auto joined = join_episodes(parts, names);
  EXPECT_EQ(joined.steps(), 2 * data.steps());
  EXPECT_EQ(joined.rewards[data.steps()], data.rewards[0]);
}

TEST_F(PromiseTest, AD4rlFileThatIsNotPackedIsMappedWhereItIs) {
  const auto path = write_parts(folder_ / "d4rl", d4rl_parts());
  const auto data = read_trajectories(path, as_it_is());
  EXPECT_NE(mapped_file_at(data.observations.floats().data()), nullptr);
  EXPECT_EQ(data.observations.floats()[11], 11.0f);
}

TEST(Promise, WithoutItAD4rlFileIsRead) {
  const TempDir folder;
  const auto path = write_parts(folder / "d4rl", d4rl_parts());
  const auto data = read_trajectories(path, as_it_is());
  EXPECT_EQ(mapped_file_at(data.observations.floats().data()), nullptr);
}

TEST(Promise, MorePagesThanTheBudgetAreNeverThereAtOnce) {
  const TempDir folder;
  const auto budget = resident() + 120 * kMega;
  const MemoryPromise promise(budget, folder.path());
  std::atomic<bool> over = false;
  std::int64_t peak = 0;
  std::thread watch([&] {
    const ResidentMemory memory;
    while (!over) {
      peak = std::max(peak, memory.look());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  NewColumn<std::int64_t> column(40'000'000, false);  // 320 MB
  std::int64_t wrong = 0;
  const auto for_each = [](auto use) {
    for (std::int64_t i = 0; i < 40'000'000; ++i) {
      if (i % 100'000 == 0) mind_memory();  // on a busy machine the keeper's thread may be late
      use(i);
    }
  };
  for_each([&](std::int64_t i) { column.data()[i] = i; });
  for_each([&](std::int64_t i) { wrong += column.data()[i] != i; });
  over = true;
  watch.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(peak, budget);
  EXPECT_GT(peak, budget - 120 * kMega);
  EXPECT_FALSE(promise.broken());
}

TEST(Promise, TouchesFromAllOverTheDataAreFollowed) {
  const TempDir folder;
  const auto budget = resident() + 120 * kMega;
  const MemoryPromise promise(budget, folder.path());
  constexpr std::int64_t kBytes = 600'000'000, kApart = 60'000;  // a touch maps its neighbours
  NewColumn<std::uint8_t> column(kBytes, false);
  std::int64_t peak = 0, sum = 0;
  const ResidentMemory memory;
  for (int round = 0; round < 3; ++round)
    for (std::int64_t at = 0; at < kBytes; at += kApart) {
      if (at / kApart % 100 == 0) mind_memory();
      sum += column.data()[at];
      peak = std::max(peak, memory.look());
    }
  EXPECT_EQ(sum, 0);
  EXPECT_LE(peak, budget);
}

TEST(Promise, TellsWhatWasNeededWhenItCannotBeKept) {
  const TempDir folder;
  const MemoryPromise promise(resident() + 150 * kMega, folder.path());
  std::vector<char> too_much(300'000'000, 1);
  for (int i = 0; i < 1000 && !promise.broken(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GT(std::ranges::count(too_much, 1), 0);
  const auto sentence = error_of<InvalidArgument>([&] { promise.require_kept(); });
  EXPECT_THAT(sentence, HasSubstr("of memory are too little"));
  EXPECT_THAT(sentence, HasSubstr("give --memory at least"));
}

TEST(Promise, RefusesLessThanTheProgramTakes) {
  const TempDir folder;
  EXPECT_THAT(error_of<InvalidArgument>([&] { MemoryPromise(1 * kMega, folder.path()); }),
              HasSubstr("1 MB of memory are too little: the program alone takes"));
  EXPECT_FALSE(memory_is_promised());
}

TEST(Promise, RefusesAFolderThatIsMemoryOrMissing) {
  if (fs::exists("/dev/shm")) {
    EXPECT_THAT(error_of<InvalidArgument>([] { MemoryPromise(2000 * kMega, "/dev/shm"); }),
                HasSubstr("keeps its files in memory"));
  }
  EXPECT_THAT(error_of<IoError>([] { MemoryPromise(2000 * kMega, "/not/there"); }),
              HasSubstr("name another with --scratch"));
}

TEST(Promise, AFullDiskIsOneSentence) {
  const TempDir folder;
  const MemoryPromise promise(resident() + 300 * kMega, folder.path());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{1'000'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const auto sentence = error_of<IoError>([] { const NewColumn<float> column(1'000'000, false); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(sentence, HasSubstr("no scratch file of 4 MB can be made in"));
  EXPECT_THAT(sentence, HasSubstr("name another folder with --scratch"));
}

TEST(Promise, SizesAsPeopleReadThem) {
  EXPECT_EQ(size_words(2'000'000'000), "2 GB");
  EXPECT_EQ(size_words(350'000'000), "350 MB");
  EXPECT_EQ(size_words(12'345'678'901), "12.3 GB");
}

}  // namespace
}  // namespace kindred
