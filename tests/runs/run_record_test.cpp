#include "kindred/runs/run_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kindred {
namespace {

TEST(RunRecord, OfAFileWithANameThatIsNoTextIsWritten) {
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("kindred-record-" + std::to_string(::getpid()) + ".json");
  RunRecord record;
  record.method = "pg-kmeans";
  record.dataset = {{"path", "/data/b\xff.h5"}};
  record.write(path);
  const auto found = RunRecord::read(path);
  EXPECT_EQ(found.method, "pg-kmeans");
  EXPECT_EQ(found.dataset.at("path"), "/data/b\uFFFD.h5");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace kindred
