#include "kindred/core/late_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constinit TorchFunction<int(std::unique_ptr<int>)> taken;
constinit TorchFunction<void()> missing;
constinit ParquetFunction<void()> missing_parquet;
constinit MujocoFunction<void()> missing_mujoco;
constinit ParquetFunction<int(int)> stands_in{[](int number) { return number + 1; }};

int take(std::unique_ptr<int> number) { return *number; }
const LateFunctionIs is_taken(taken, &take);

TEST(LateFunction, IsWhatTheLinkedPartSays) { EXPECT_EQ(taken(std::make_unique<int>(3)), 3); }

TEST(LateFunction, WithABodyFromTheStartOpensNothing) { EXPECT_EQ(stands_in(3), 4); }

template <class Function>
void expect_missing(const Function& function, const char* library, const char* needed) {
  for (int time = 0; time < 2; ++time) try {
      function();
      FAIL() << "there is nothing to call";
    } catch (const IoError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(library));
      EXPECT_THAT(error.what(), ::testing::HasSubstr(needed));
    }
}

/// This test links no part, and there is no library beside it to open.
TEST(LateFunction, WithoutThePartIsOneSentenceEachTime) {
  expect_missing(missing, "libkindred_torch.so", "needs LibTorch");
  expect_missing(missing_parquet, "libkindred_parquet.so", "needs Apache Arrow");
  expect_missing(missing_mujoco, "libkindred_mujoco.so", "needs MuJoCo");
}

}  // namespace
}  // namespace kindred
