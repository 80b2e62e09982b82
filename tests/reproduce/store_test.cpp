// The store keeps records, of one scale, and nothing else's.
#include "kindred/reproduce/store.h"

#include <gmock/gmock.h>

#include "kindred/core/error.h"
#include "temporary_store.h"

namespace kindred::reproduce {
namespace {

using ::testing::ElementsAre;
using StoreTest = testing::WithStore;

TEST_F(StoreTest, KeepsRecords) {
  const Store store(folder_ / "store", Scale::kSmall);
  const auto lock = store.begin_work();
  EXPECT_FALSE(store.has("a"));
  store.write("b", {{"x", 1}});
  store.write("a", {{"x", 2}});
  EXPECT_TRUE(store.has("a"));
  EXPECT_EQ(store.read("a")["x"], 2);
  EXPECT_THAT(Store(folder_ / "store", Scale::kSmall).names(), ElementsAre("a", "b"));
}

TEST_F(StoreTest, DoesNotMixScales) {
  const Store store(folder_, Scale::kSmall);
  store.begin_work();
  EXPECT_NO_THROW(Store(folder_, Scale::kSmall));
  EXPECT_THROW(Store(folder_, Scale::kPaper), InvalidArgument);
}

TEST_F(StoreTest, LeavesOtherFoldersAlone) {
  write_text(folder_ / "thesis.tex", "");
  EXPECT_THROW(Store(folder_, Scale::kSmall), InvalidArgument);
  EXPECT_THROW(Store(folder_ / "thesis.tex", Scale::kSmall), InvalidArgument);
}

TEST_F(StoreTest, GoesOnWhereItCouldNotBeFinished) {
  std::filesystem::create_directories(folder_ / ".work");
  write_text(folder_ / "store.json.partial-12-3", "{");
  EXPECT_NO_THROW(Store(folder_, Scale::kPaper));
}

TEST_F(StoreTest, NamesADamagedRecord) {
  const Store store(folder_, Scale::kSmall);
  store.begin_work();
  write_text(folder_ / "half.json", "{\"result\": ");
  try {
    store.read("half");
    FAIL();
  } catch (const DataFormatError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("half.json"));
  }
}

TEST_F(StoreTest, HasOneRunnerAtATime) {
  const Store store(folder_, Scale::kSmall);
  const auto first = store.begin_work();
  EXPECT_THROW(store.begin_work(), InvalidArgument);
}

}  // namespace
}  // namespace kindred::reproduce
