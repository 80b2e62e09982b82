#include "kindred/core/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kindred/core/error.h"
#include "stopping.h"

namespace kindred {
namespace {

using std::chrono::milliseconds;

TEST(Turns, EveryPieceTakesItsStepsInOrderWhateverTheThreads) {
  constexpr std::int64_t kPieces = 23;
  for (const int threads : {1, 2, 5, 40}) {
    std::vector<std::vector<std::int64_t>> steps(kPieces);  // of a piece by one thread at a time
    const auto begin = [&](std::int64_t piece) -> PieceStep {
      return [&own = steps[static_cast<std::size_t>(piece)], last = 100 + 7 * piece](std::int64_t) {
        own.push_back(std::ssize(own));
        return std::ssize(own) == last;
      };
    };
    take_turns(Workers(threads), {.pieces = kPieces, .begin = begin, .most_under_way = 4});
    for (std::int64_t piece = 0; piece < kPieces; ++piece) {
      const auto& own = steps[static_cast<std::size_t>(piece)];
      EXPECT_EQ(std::ssize(own), 100 + 7 * piece);
      EXPECT_TRUE(std::ranges::is_sorted(own));
    }
  }
}

TEST(Turns, NoThreadIsLeftWithAWholePieceAtTheEnd) {
  // Three pieces on two threads: one after the other, the third would find a thread idle.
  constexpr std::int64_t kSteps = 40;
  std::mutex mutex;
  std::vector<std::int64_t> steps(3), least_when_done;
  const auto begin = [&](std::int64_t piece) -> PieceStep {
    return [&, piece](std::int64_t) {
      std::this_thread::sleep_for(milliseconds(2));
      const std::lock_guard lock(mutex);
      const bool is_done = ++steps[static_cast<std::size_t>(piece)] == kSteps;
      if (is_done) least_when_done.push_back(std::ranges::min(steps));
      return is_done;
    };
  };
  take_turns(Workers(2), {.pieces = 3, .begin = begin, .most_under_way = 3});
  EXPECT_THAT(least_when_done, testing::Each(testing::Ge(kSteps / 10)));
}

TEST(Turns, NoMorePiecesAreUnderWayThanAllowed) {
  std::atomic<std::int64_t> under_way{0}, most{0};
  const auto begin = [&](std::int64_t) -> PieceStep {
    const std::int64_t now = ++under_way;
    for (auto before = most.load(); before < now && !most.compare_exchange_weak(before, now);) {
    }
    const std::shared_ptr<void> held(nullptr, [&](void*) { --under_way; });
    return [held, left = 10](std::int64_t) mutable {
      std::this_thread::sleep_for(milliseconds(1));
      return --left == 0;
    };
  };
  take_turns(Workers(2), {.pieces = 20, .begin = begin, .most_under_way = 5});
  EXPECT_LE(most, 5 + 1);  // one may be begun before another that is done is freed
  EXPECT_GE(most, 3);
  EXPECT_EQ(under_way, 0);
}

TEST(Turns, ASeatIsOneThreadsAlone) {
  constexpr int kThreads = 4;
  std::vector<std::atomic<bool>> occupied(kThreads);
  const auto begin = [&](std::int64_t) -> PieceStep {
    return [&, left = 50](std::int64_t seat) mutable {
      EXPECT_FALSE(occupied[static_cast<std::size_t>(seat)].exchange(true));
      std::this_thread::yield();
      occupied[static_cast<std::size_t>(seat)] = false;
      return --left == 0;
    };
  };
  take_turns(Workers(kThreads), {.pieces = 9, .begin = begin, .most_under_way = 9});
}

TEST(Turns, WhoAsksIsToldWhilePiecesAreOnTheirWay) {
  for (const int threads : {1, 2}) {
    const auto asking = std::this_thread::get_id();
    std::atomic<std::int64_t> steps{0};
    std::vector<std::int64_t> told;
    const auto begin = [&](std::int64_t) -> PieceStep {
      return [&, left = 20](std::int64_t) mutable {
        std::this_thread::sleep_for(milliseconds(1));
        ++steps;
        return --left == 0;
      };
    };
    take_turns(Workers(threads),
               {.pieces = 2, .begin = begin, .most_under_way = 2, .meanwhile = [&] {
                  EXPECT_EQ(std::this_thread::get_id(), asking);
                  told.push_back(steps);
                }});
    ASSERT_FALSE(told.empty());
    EXPECT_LT(told.front(), 40) << "before all is done";
  }
}

TEST(Turns, AnExceptionEndsAllPieces) {
  for (const int threads : {1, 3}) {
    std::atomic<std::int64_t> steps{0};
    const auto begin = [&](std::int64_t piece) -> PieceStep {
      return [&, piece](std::int64_t) -> bool {
        std::this_thread::sleep_for(milliseconds(1));
        if (piece == 1 && ++steps == 3) throw InvalidArgument("enough");
        return false;
      };
    };
    EXPECT_THROW(take_turns(Workers(threads), {.pieces = 5, .begin = begin, .most_under_way = 5}),
                 InvalidArgument);
  }
}

TEST(Turns, StopOnRequest) {
  Workers workers(2);
  workers.stop_requested = stopping::after_questions(20);
  const auto never_done = [](std::int64_t) -> PieceStep {
    return [](std::int64_t) { return false; };
  };
  EXPECT_THROW(take_turns(workers, {.pieces = 5, .begin = never_done, .most_under_way = 5}),
               Interrupted);
}

TEST(Turns, NothingToDoIsDone) { EXPECT_NO_THROW(take_turns(Workers(2), {})); }

}  // namespace
}  // namespace kindred
