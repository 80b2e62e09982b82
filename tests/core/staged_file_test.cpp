#include "kindred/core/staged_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/files.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class StagedFiles : public ::testing::Test {
 protected:
  StagedFiles() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~StagedFiles() override { fs::remove_all(folder_); }

  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  template <class Action>
  static std::string error_of(const Action& action) {
    try {
      action();
    } catch (const IoError& error) {
      return error.what();
    }
    return "no error";
  }

  /// The number of a process that has ended.
  static pid_t dead_process() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return child;
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) /
                           (std::string("kindred_staged_") +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const fs::path target_ = folder_ / "a.txt";
};

TEST_F(StagedFiles, TheOldFileStaysUntilTheNewOneIsComplete) {
  write_text(target_, "old");
  StagedFile file(target_);
  EXPECT_EQ(file.path().parent_path(), folder_);
  EXPECT_NE(file.path(), target_);
  file.append("new");
  EXPECT_EQ(read_text(target_), "old");
  file.commit();
  EXPECT_EQ(read_text(target_), "new");
  EXPECT_THAT(listing(), ElementsAre("a.txt"));
}

TEST_F(StagedFiles, WithoutCommitEverythingIsAsItWas) {
  write_text(target_, "old");
  { StagedFile(target_).append("half"); }
  EXPECT_EQ(read_text(target_), "old");
  EXPECT_THAT(listing(), ElementsAre("a.txt"));
}

TEST_F(StagedFiles, BytesAreCollectedAndRewritten) {
  StagedFile file(target_);
  std::string expected;
  for (int i = 0; i < 30000; ++i) {
    const auto piece = std::to_string(i) + ",";
    file.append(piece);
    expected += piece;
    if (i % 10000 == 0) {
      file.rewrite(expected.size() - 1, ";");
      expected.back() = ';';
    }
  }
  file.commit();
  EXPECT_EQ(read_text(target_), expected);
}

TEST_F(StagedFiles, TwoOfOneNameInOneProcessDoNotMix) {
  StagedFile first(target_), second(target_);
  first.append("first");
  second.append("second");
  second.commit();
  EXPECT_EQ(read_text(target_), "second");
  first.commit();
  EXPECT_EQ(read_text(target_), "first");
}

TEST_F(StagedFiles, AFolderIsWholeOrNotThere) {
  const auto target = folder_ / "whole";
  const auto write = [&](bool whole) {
    StagedFolder folder(target / "");  // as users write folders
    write_text(folder.path() / "a.txt", "new");
    if (whole) folder.commit();
  };
  write(false);
  EXPECT_THAT(listing(), IsEmpty());
  fs::create_directory(target);  // an empty one gives way
  write(true);
  EXPECT_EQ(read_text(target / "a.txt"), "new");
  EXPECT_EQ(error_of([&] { write(true); }),
            "cannot write '" + target.string() + "': Directory not empty");
  EXPECT_EQ(read_text(target / "a.txt"), "new");
  EXPECT_THAT(listing(), ElementsAre("whole"));
}

TEST_F(StagedFiles, ErrorsGiveTheNameToBeAndTheReason) {
  StagedFolder folder(folder_ / "whole");
  EXPECT_EQ(
      error_of([&] { write_text(folder.path() / "none" / "a.txt", ""); }),
      "cannot write '" + (folder_ / "whole/none/a.txt").string() + "': No such file or directory");
  EXPECT_EQ(error_of([&] { StagedFile(folder_ / "."); }),
            "cannot write '" + (folder_ / ".").string() + "': Is a directory");
  EXPECT_EQ(error_of([&] { StagedFolder(folder_ / "none" / "whole"); }),
            "cannot make the folder '" + (folder_ / "none/whole").string() +
                "': No such file or directory");
}

TEST_F(StagedFiles, AFileThatMayNotGrowIsAnOrdinaryError) {
  write_text(target_, "old");
  const auto previous = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto error = error_of([&] { write_text(target_, std::string(20000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous);
  EXPECT_EQ(error, "cannot write '" + target_.string() + "': File too large");
  EXPECT_EQ(read_text(target_), "old");
  EXPECT_THAT(listing(), ElementsAre("a.txt"));
}

TEST_F(StagedFiles, WhatAKilledProcessLeftGoesWithTheNextWriting) {
  const auto killed = std::to_string(dead_process()), alive = std::to_string(::getppid());
  for (const auto& rest : {killed, killed + "-0", killed + "-7.partial-" + killed + "-8",
                           alive + "-0", std::string("x"), killed + "-x"})
    write_text(target_.string() + ".partial-" + rest, "half");
  fs::create_directories(target_.string() + ".partial-" + killed + "-3/inside");
  write_text(folder_ / ("b.txt.partial-" + killed + "-0"), "of another name");
  const int locked = ::open((target_.string() + ".partial-" + killed + "-9").c_str(),
                            O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(locked, LOCK_EX), 0);  // as a process of another machine would
  write_text(target_, "new");
  EXPECT_THAT(listing(), UnorderedElementsAre("a.txt", "a.txt.partial-" + alive + "-0",
                                              "a.txt.partial-x", "a.txt.partial-" + killed + "-x",
                                              "a.txt.partial-" + killed + "-9",
                                              "b.txt.partial-" + killed + "-0"));
  ::close(locked);
  write_text(target_, "newer");
  EXPECT_FALSE(fs::exists(target_.string() + ".partial-" + killed + "-9"));
}

TEST_F(StagedFiles, FollowsLinksToFiles) {
  fs::create_directory(folder_ / "elsewhere");
  write_text(folder_ / "elsewhere" / "b.txt", "old");
  fs::create_symlink("elsewhere/b.txt", target_);
  write_text(target_, "new");
  EXPECT_TRUE(fs::is_symlink(target_));
  EXPECT_EQ(read_text(folder_ / "elsewhere" / "b.txt"), "new");
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_EQ(
      error_of([&] { write_text(folder_ / "loop", "new"); }),
      "cannot write '" + (folder_ / "loop").string() + "': Too many levels of symbolic links");
}

TEST_F(StagedFiles, DevicesAreNotReplaced) {
  EXPECT_THAT(error_of([&] { write_text("/dev/null", "new"); }),
              StartsWith("cannot write '/dev/null': it is a device"));
}

}  // namespace
}  // namespace kindred
