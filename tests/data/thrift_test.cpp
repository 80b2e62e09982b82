#include "kindred/data/thrift.h"

#include <cstring>

#include "test_files.h"

namespace kindred {
namespace {

using namespace testing;  // NOLINT: the helpers of this folder
using ::testing::HasSubstr;

/// The footer of a Parquet file.
std::string footer_of(const std::filesystem::path& file) {
  const auto bytes = read_bytes(file);
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + bytes.size() - 8, sizeof(size));
  return bytes.substr(bytes.size() - 8 - size, size);
}

const auto kFixture =
    std::filesystem::path(KINDRED_FIXTURES) / "lerobot/v3/data/chunk-000/file-000.parquet";

TEST(Thrift, GivesBackTheBytesItRead) {
  const auto footer = footer_of(kFixture);
  const auto tree = thrift::parse(footer);
  EXPECT_EQ(tree.find(3)->number, 12);  // rows
  EXPECT_EQ(thrift::serialise(tree), footer);
}

TEST(Thrift, KeepsEveryTypeAndLongLists) {
  using thrift::Type;
  thrift::Value list;
  list.type = Type::kList;
  list.item_type = Type::kInt32;
  for (int i = -10; i < 10; ++i) {
    list.items.emplace_back().type = Type::kInt32;
    list.items.back().number = i * 1000;
  }
  thrift::Value tree;
  tree.fields = {{1, list}, {2, {}}, {40, {}}, {41, {}}};
  tree.fields[1].second.type = Type::kTrue;
  tree.fields[2].second.type = Type::kDouble;
  tree.fields[2].second.bytes = "12345678";
  tree.fields[3].second.type = Type::kByte;
  tree.fields[3].second.number = 200;
  const auto bytes = thrift::serialise(tree);
  const auto again = thrift::parse(bytes);
  EXPECT_EQ(thrift::serialise(again), bytes);
  EXPECT_EQ(again.find(1)->items[0].number, -10000);
  EXPECT_EQ(again.find(40)->bytes, "12345678");
  EXPECT_EQ(again.find(39), nullptr);
}

TEST(Thrift, RefusesWhatEndsTooEarlyOrNeverEnds) {
  const auto footer = footer_of(kFixture);
  for (std::size_t size = 0; size < footer.size(); size += 13)
    EXPECT_THAT(error_of<DataFormatError>([&] { thrift::parse(footer.substr(0, size)); }),
                HasSubstr("damaged"));
  EXPECT_THAT(error_of<DataFormatError>([&] { thrift::parse(std::string(1000, '\x1c')); }),
              HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace kindred
