#include "kindred/dist/watch.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <thread>

namespace kindred {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

/// What the processes of a test see; it can fall silent.
struct Wall {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values;
  bool silent = false;

  void answer(std::unique_lock<std::mutex>& lock) {
    changed.wait(lock, [&] { return !silent; });
  }
};

class WallBoard final : public Board {
 public:
  explicit WallBoard(std::shared_ptr<Wall> wall) : wall_(std::move(wall)) {}

  void set(const std::string& key, const std::string& value) override {
    std::unique_lock lock(wall_->mutex);
    wall_->answer(lock);
    wall_->values[key] = value;
  }
  std::optional<std::string> get(const std::string& key) override {
    std::unique_lock lock(wall_->mutex);
    wall_->answer(lock);
    const auto found = wall_->values.find(key);
    return found == wall_->values.end() ? std::nullopt : std::optional(found->second);
  }
  std::string set_once(const std::string& key, const std::string& value) override {
    std::unique_lock lock(wall_->mutex);
    wall_->answer(lock);
    return wall_->values.try_emplace(key, value).first->second;
  }

 private:
  std::shared_ptr<Wall> wall_;
};

class WatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<Watch> watch(std::int64_t rank, std::int64_t size) {
    return std::make_unique<Watch>(std::make_unique<WallBoard>(wall_),
                                   WatchOptions{.rank = rank,
                                                .size = size,
                                                .host = "host" + std::to_string(rank),
                                                .keeper = "",
                                                .patience = 600ms,
                                                .beat = 20ms,
                                                .on_loss = {}});
  }
  static std::string verdict(const Watch& watch) {
    return watch.verdict(std::chrono::steady_clock::now() + 5s).value_or("all is well");
  }
  static bool is_well(const Watch& watch) {
    return !watch.verdict(std::chrono::steady_clock::now() + 900ms).has_value();
  }

  std::shared_ptr<Wall> wall_ = std::make_shared<Wall>();
};

TEST_F(WatchTest, NobodyIsMissedWhileAllAreThere) {
  const auto first = watch(0, 3), second = watch(1, 3), third = watch(2, 3);
  EXPECT_TRUE(is_well(*first));
  EXPECT_TRUE(is_well(*second));
  EXPECT_TRUE(is_well(*third));
}

TEST_F(WatchTest, AllLearnWhoFellSilent) {
  const auto first = watch(0, 3), second = watch(1, 3);
  auto third = watch(2, 3);
  EXPECT_TRUE(is_well(*first));
  third.reset();
  EXPECT_THAT(verdict(*first), HasSubstr("rank 2 on host2 has not answered for 0.6 s"));
  EXPECT_THAT(verdict(*second), HasSubstr("rank 2 on host2 has not answered"));
}

TEST_F(WatchTest, WhoNeverCameIsNamed) {
  const auto first = watch(0, 3), second = watch(1, 3);
  EXPECT_THAT(verdict(*second), HasSubstr("rank 2 has not come within 0.6 s"));
}

TEST_F(WatchTest, TheFirstIsMissedByTheOthers) {
  auto first = watch(0, 2);
  const auto second = watch(1, 2);
  EXPECT_TRUE(is_well(*second));
  first.reset();
  EXPECT_THAT(verdict(*second), HasSubstr("rank 0 on host0 has not answered"));
}

TEST_F(WatchTest, ABoardThatDoesNotAnswerIsItsKeepers) {
  const auto first = watch(0, 2), second = watch(1, 2);
  EXPECT_TRUE(is_well(*second));
  {
    const std::lock_guard lock(wall_->mutex);
    wall_->silent = true;
  }
  EXPECT_THAT(verdict(*second), HasSubstr("rank 0 on host0 has not answered"));
  {
    const std::lock_guard lock(wall_->mutex);
    wall_->silent = false;
  }
  wall_->changed.notify_all();
}

TEST_F(WatchTest, WhoFailsSaysSo) {
  const auto first = watch(0, 3), second = watch(1, 3), third = watch(2, 3);
  EXPECT_TRUE(is_well(*first));
  second->fail("the disk is full");
  EXPECT_THAT(verdict(*first), HasSubstr("rank 1 on host1: the disk is full"));
  EXPECT_THAT(verdict(*third), HasSubstr("rank 1 on host1: the disk is full"));
}

TEST_F(WatchTest, WhoLeavesIsNotMissed) {
  const auto first = watch(0, 2);
  auto second = watch(1, 2);
  EXPECT_TRUE(is_well(*first));
  auto gone = std::async(std::launch::async, [&] {
    second->leave();
    second.reset();
  });
  first->leave();
  gone.get();
  EXPECT_TRUE(is_well(*first));
}

}  // namespace
}  // namespace kindred
