#include "kindred/data/undo.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kindred/core/files.h"
#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class Undo : public ::testing::Test {
 protected:
  void SetUp() override { write_bytes(file_, original_); }

  static std::string random_bytes(std::size_t size, std::uint64_t seed) {
    Random random(seed);
    std::string bytes(size, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random.below(256));
    return bytes;
  }

  void change_to(const std::string& bytes) const {
    FileChange change(file_, [&](const fs::path& copy) { write_bytes(copy, bytes); });
    change.commit();
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  TempDir folder_;
  fs::path file_ = folder_ / "file";
  std::string original_ = random_bytes(3 << 20, 1);
};

TEST_F(Undo, BringsBackEveryByteOfAnyChange) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    std::string changed = original_;
    for (int i = 0; i < round * round; ++i)
      changed[random.below(changed.size())] = static_cast<char>(random.below(256));
    if (round % 3 == 1) changed += random_bytes(random.below(2 << 20), 2);
    if (round % 3 == 2) changed.resize(random.below(changed.size()));
    change_to(changed);
    ASSERT_EQ(read_bytes(file_), changed);
    ASSERT_TRUE(can_undo(file_));
    undo_changes(file_);
    ASSERT_EQ(read_bytes(file_), original_);
    ASSERT_THAT(files(), UnorderedElementsAre("file"));
  }
}

TEST_F(Undo, TheJournalHoldsTheChangedBytesOnly) {
  std::string changed = original_;
  for (const std::size_t at : {0U, 5U, 70000U, 3000000U}) changed[at] ^= 1;
  change_to(changed + "more");
  EXPECT_LT(fs::file_size(journal_of(file_)), 300U);
}

TEST_F(Undo, TakesNamesRelativeToTheFolder) {
  const auto here = fs::current_path();
  fs::current_path(folder_.path());
  for (const char* name : {"file", "new"}) {
    FileChange change(name, [](const fs::path& copy) { write_bytes(copy, "changed"); });
    change.commit();
    EXPECT_EQ(read_bytes(folder_ / name), "changed");
    undo_changes(name);
  }
  fs::current_path(here);
  EXPECT_EQ(read_bytes(file_), original_);
  EXPECT_THAT(files(), UnorderedElementsAre("file"));
}

TEST_F(Undo, SeveralChangesAreUndoneAtOnce) {
  std::string changed = original_;
  changed[7] ^= 1;
  change_to(changed + random_bytes(5000, 3));
  changed[7] ^= 2;
  changed[1 << 20] ^= 1;
  change_to(changed.substr(0, 2 << 20));  // shorter than the original
  change_to(changed.substr(0, 5));
  undo_changes(file_);
  EXPECT_EQ(read_bytes(file_), original_);
}

TEST_F(Undo, AFileThatWasNotThereGoesAgain) {
  fs::remove(file_);
  change_to("first");
  change_to("second");
  EXPECT_EQ(read_bytes(file_), "second");
  undo_changes(file_);
  EXPECT_TRUE(files().empty());
}

TEST_F(Undo, RefusesAFileThatWasChangedSince) {
  change_to("labelled");
  write_bytes(file_, "labelleD");
  const auto expected = AllOf(HasSubstr("was changed since"), HasSubstr("file.kindred-undo"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { undo_changes(file_); }), expected);
  EXPECT_THAT(error_of<InvalidArgument>([&] { change_to("again"); }), expected);
  EXPECT_EQ(read_bytes(file_), "labelleD");
  EXPECT_THAT(files(), UnorderedElementsAre("file", "file.kindred-undo"));
}

TEST_F(Undo, RefusesWhereThereIsNothingToUndo) {
  EXPECT_FALSE(can_undo(file_));
  EXPECT_THAT(error_of<InvalidArgument>([&] { undo_changes(file_); }),
              HasSubstr("nothing to undo"));
}

TEST_F(Undo, ADamagedJournalTouchesNothing) {
  original_.resize(100);
  write_bytes(file_, original_);
  change_to("labelled");
  const auto journal = read_bytes(journal_of(file_));
  for (std::size_t size = 0; size < journal.size(); ++size) {
    write_bytes(journal_of(file_), journal.substr(0, size));
    EXPECT_THAT(error_of<DataFormatError>([&] { undo_changes(file_); }), HasSubstr("is damaged"));
  }
  for (std::size_t at = 0; at < journal.size(); ++at) {
    auto damaged = journal;
    damaged[at] ^= 4;
    write_bytes(journal_of(file_), damaged);
    EXPECT_THAT(error_of<DataFormatError>([&] { undo_changes(file_); }), HasSubstr("is damaged"));
  }
  EXPECT_EQ(read_bytes(file_), "labelled");
  write_bytes(journal_of(file_), journal);
  undo_changes(file_);
  EXPECT_EQ(read_bytes(file_), original_);
}

TEST_F(Undo, AChangeThatFailsLeavesNothing) {
  EXPECT_EQ(error_of<IoError>([&] {
              FileChange(file_, [](const fs::path& copy) {
                write_bytes(copy, "half");
                throw IoError("the disk is full");
              });
            }),
            "the disk is full");
  {
    const FileChange dropped(file_, [](const fs::path& copy) { write_bytes(copy, "unwanted"); });
    EXPECT_EQ(dropped.size(), 8U);
  }
  EXPECT_EQ(read_bytes(file_), original_);
  EXPECT_THAT(files(), UnorderedElementsAre("file"));
}

TEST_F(Undo, AKillBetweenTheTwoRenamesCanBeUndone) {
  change_to("first");
  const auto first = read_bytes(journal_of(file_));
  change_to("second");
  fs::rename(journal_of(file_), journal_of(file_).string() + ".next");
  write_bytes(journal_of(file_), first);
  ASSERT_TRUE(can_undo(file_));
  undo_changes(file_);
  EXPECT_EQ(read_bytes(file_), original_);
  EXPECT_THAT(files(), UnorderedElementsAre("file"));
}

TEST_F(Undo, AKillBetweenTheTwoRenamesOutlastsTheNextChange) {
  change_to("first");
  const auto first = read_bytes(journal_of(file_));
  change_to("second");
  fs::rename(journal_of(file_), journal_of(file_).string() + ".next");
  write_bytes(journal_of(file_), first);
  {
    const FileChange dropped(file_, [](const fs::path& copy) { write_bytes(copy, "third"); });
  }
  ASSERT_TRUE(can_undo(file_));
  undo_changes(file_);
  EXPECT_EQ(read_bytes(file_), original_);
}

TEST_F(Undo, AKillBeforeTheChangeOrAfterTheUndoIsForgotten) {
  change_to("labelled");
  const auto journal = read_bytes(journal_of(file_));
  undo_changes(file_);
  for (const auto* suffix : {".kindred-undo", ".kindred-undo.next"}) {
    write_bytes(file_.string() + suffix, journal);
    EXPECT_FALSE(can_undo(file_));
    change_to("again");
    undo_changes(file_);
    EXPECT_EQ(read_bytes(file_), original_);
  }
}

TEST_F(Undo, AKillAtAnyMomentLeavesAWholeFile) {
  const std::string changed = random_bytes(3 << 20, 9);
  for (int delay = 0; delay < 150000; delay += 7500) {  // a change takes about half of that
    const pid_t child = ::fork();
    if (child == 0) {
      change_to(changed);
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(delay));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto found = read_bytes(file_);
    ASSERT_TRUE(found == original_ || found == changed);
    ASSERT_EQ(can_undo(file_), found == changed);
    if (found == changed) undo_changes(file_);
    ASSERT_EQ(read_bytes(file_), original_);
  }
}

TEST_F(Undo, ACopyLeftByAKilledProcessGoesWithTheNextChange) {
  const pid_t killed = ::fork();
  if (killed == 0) ::_exit(0);
  ::waitpid(killed, nullptr, 0);
  const auto leftover = fmt::format("{}.partial-{}", file_.string(), killed);
  for (const auto& name : {leftover, file_.string() + ".partial-1", file_.string() + ".partial-x"})
    write_bytes(name, "half");
  change_to("labelled");
  EXPECT_THAT(files(), UnorderedElementsAre("file", "file.kindred-undo", "file.partial-1",
                                            "file.partial-x"));
  write_bytes(leftover, "half");
  undo_changes(file_);
  EXPECT_THAT(files(), UnorderedElementsAre("file", "file.partial-1", "file.partial-x"));
}

TEST_F(Undo, KeepsWhoMayReadAFileThatIsWrittenAnew) {
  fs::permissions(file_, fs::perms::owner_read | fs::perms::owner_write);
  const bool owned_by_another = ::chown(file_.c_str(), 65534, 65534) == 0;  // needs privileges
  const auto expect_kept = [&] {
    struct stat status {};
    ASSERT_EQ(::stat(file_.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    if (owned_by_another) {
      EXPECT_EQ(status.st_uid, 65534U);
    }
  };
  FileChange change(file_, [](const fs::path& copy) { write_text(copy, "new"); });
  change.commit();
  expect_kept();
  undo_changes(file_);
  expect_kept();
}

TEST_F(Undo, NamesTheFileWhereItsFolderIsNoneToWriteTo) {
  const auto lost = folder_ / "gone" / "file";
  const auto change = [&] { FileChange(lost, [](const fs::path&) {}); };
  EXPECT_THAT(error_of<IoError>(change),
              AllOf(HasSubstr("cannot change '" + lost.string() + "'"), HasSubstr("its folder")));
}

TEST_F(Undo, FollowsALinkAndKeepsItsMode) {
  fs::permissions(file_, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink(file_, folder_ / "link");
  const auto mode = fs::status(file_).permissions();
  FileChange change(folder_ / "link", [](const fs::path& copy) { write_bytes(copy, "new"); });
  change.commit();
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_bytes(file_), "new");
  EXPECT_EQ(fs::status(file_).permissions(), mode);
  undo_changes(folder_ / "link");
  EXPECT_EQ(read_bytes(file_), original_);
  EXPECT_EQ(fs::status(file_).permissions(), mode);
}

}  // namespace
}  // namespace kindred
