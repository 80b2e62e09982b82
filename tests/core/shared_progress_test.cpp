#include "kindred/core/shared_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "kindred/core/thread_pool.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;

TEST(SharedProgress, OthersCountAndTheOwnerTells) {
  std::vector<double> told;
  SharedProgress progress(4, [&](double fraction) { told.push_back(fraction); });
  std::thread([&] { progress.add(2); }).join();
  EXPECT_TRUE(told.empty());
  progress.tell();
  EXPECT_THAT(told, ElementsAre(0.5));
  std::thread([&] { progress.add(2); }).join();
  progress.tell();
  progress.tell();  // nothing new
  EXPECT_THAT(told, ElementsAre(0.5, 1.0));
}

TEST(SharedProgress, TellsNowAndThenAndTheEnd) {
  std::vector<double> told;
  SharedProgress progress(1000, [&](double fraction) { told.push_back(fraction); });
  for (int i = 0; i < 500; ++i) progress.add();
  EXPECT_LT(told.size(), 100U);
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  progress.add();
  EXPECT_EQ(told.back(), 0.501);
  for (int i = 0; i < 499; ++i) progress.add();
  EXPECT_EQ(told.back(), 1.0);
}

TEST(SharedProgress, OfAPoolAlwaysReachesTheEnd) {
  ThreadPool pool(3);
  for (int i = 0; i < 50; ++i) {
    std::vector<double> told;
    SharedProgress progress(20, [&](double fraction) { told.push_back(fraction); });
    pool.chunks(
        20, 1, [&](std::int64_t, std::int64_t) { progress.add(); }, [&] { progress.tell(); });
    EXPECT_EQ(told.back(), 1.0);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  }
}

TEST(SharedProgress, NobodyNeedsToListen) {
  SharedProgress progress(1, {});
  EXPECT_NO_THROW(progress.add());
}

}  // namespace
}  // namespace kindred
