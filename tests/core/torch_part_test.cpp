#include "kindred/core/torch_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constinit TorchFunction<int(std::unique_ptr<int>)> taken;
constinit TorchFunction<void()> missing;

int take(std::unique_ptr<int> number) { return *number; }
const TorchFunctionIs is_taken(taken, &take);

TEST(TorchFunction, IsWhatTheLinkedPartSays) { EXPECT_EQ(taken(std::make_unique<int>(3)), 3); }

/// This test links no file that needs LibTorch, and there is no library beside it to open.
TEST(TorchFunction, WithoutThePartIsOneSentenceEachTime) {
  for (int time = 0; time < 2; ++time) try {
      missing();
      FAIL() << "there is nothing to call";
    } catch (const IoError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("libkindred_torch.so"));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("needs LibTorch"));
    }
}

}  // namespace
}  // namespace kindred
