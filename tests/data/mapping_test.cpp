#include "kindred/data/mapping.h"

#include <deque>

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder

TEST(Mapping, AnAddressLeadsToItsFile) {
  const TempDir folder;
  write_bytes(folder / "a\x1b", std::string(10000, 'a'));
  int elsewhere = 0;
  const std::byte* address = nullptr;
  {
    const MappedFile file(folder / "a\x1b", 10000);
    ASSERT_TRUE(file);
    address = file.data() + 9999;
    EXPECT_EQ(std::to_integer<char>(*address), 'a');
    EXPECT_THAT(mapped_file_at(address), ::testing::EndsWith("/a\\x1b"));
    EXPECT_EQ(mapped_file_at(address + 1), nullptr);
    EXPECT_EQ(mapped_file_at(file.data() - 1), nullptr);
    EXPECT_EQ(mapped_file_at(&elsewhere), nullptr);
  }
  EXPECT_EQ(mapped_file_at(address), nullptr);
}

TEST(Mapping, WhatCannotBeKeptTrackOfIsNotMapped) {
  const TempDir folder;
  write_bytes(folder / "a", "abc");
  EXPECT_FALSE(MappedFile(folder / "none", 3));
  std::deque<MappedFile> files;
  while (files.size() < 10000 && (files.empty() || files.back()))
    files.emplace_back(folder / "a", 3);
  EXPECT_FALSE(files.back());
  EXPECT_STRNE(mapped_file_at(files.front().data()), nullptr);
  files.pop_front();
  EXPECT_TRUE(MappedFile(folder / "a", 3));
}

}  // namespace
}  // namespace kindred
