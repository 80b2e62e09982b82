#include "kindred/core/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kindred/core/error.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) /
                           (std::string("kindred_files_") +
                            ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Files, TextComesBackByteForByte) {
  const std::string text("first\r\nsecond\0third\n", 20);
  write_text(folder_ / "a.txt", text);
  EXPECT_EQ(read_text(folder_ / "a.txt"), text);
  write_text(folder_ / "a.txt", "");
  EXPECT_EQ(read_text(folder_ / "a.txt"), "");
  EXPECT_THAT(listing(), ::testing::ElementsAre("a.txt"));
}

TEST_F(Files, ATreeGoesWithoutWhatItsLinksLeadTo) {
  fs::create_directories(folder_ / "tree" / "deep");
  write_text(folder_ / "tree" / "deep" / "a.txt", "a");
  fs::create_directories(folder_ / "kept");
  write_text(folder_ / "kept" / "b.txt", "b");
  fs::create_directory_symlink(folder_ / "kept", folder_ / "tree" / "link");
  remove_tree(folder_ / "tree");
  remove_tree(folder_ / "never there");
  EXPECT_THAT(listing(), ::testing::ElementsAre("kept"));
  EXPECT_EQ(read_text(folder_ / "kept" / "b.txt"), "b");
}

TEST_F(Files, ATargetThatCannotBeWrittenIsNamed) {
  const auto target = folder_ / "missing" / "a.txt";
  try {
    write_text(target, "text");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_EQ(error.what(), "cannot write '" + target.string() + "': No such file or directory");
  }
  fs::create_directories(folder_ / "taken" / "inside");
  EXPECT_THROW(write_text(folder_ / "taken", "text"), IoError);
  EXPECT_THAT(listing(), ::testing::ElementsAre("taken"));
}

TEST_F(Files, AMissingFileIsNamed) {
  try {
    read_text(folder_ / "none.txt");
    FAIL();
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("cannot read '" + folder_.string()));
  }
}

}  // namespace
}  // namespace kindred
