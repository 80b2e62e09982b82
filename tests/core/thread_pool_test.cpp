#include "kindred/core/thread_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/workers.h"

namespace kindred {
namespace {

using Chunks = std::set<std::pair<std::int64_t, std::int64_t>>;

Chunks chunks_of(std::int64_t count, std::int64_t chunk, int threads) {
  Chunks chunks;
  std::mutex mutex;
  ThreadPool(threads).chunks(count, chunk, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(chunks.emplace(begin, end).second) << "a chunk came twice";
  });
  return chunks;
}

TEST(ThreadPool, ChunksCoverTheRangeOnceWhateverTheThreads) {
  const Chunks expected = {{0, 4}, {4, 8}, {8, 10}};
  for (const int threads : {0, 1, 2, 3, 16}) EXPECT_EQ(chunks_of(10, 4, threads), expected);
  EXPECT_EQ(chunks_of(3, 100, 4), (Chunks{{0, 3}}));
  EXPECT_EQ(chunks_of(2, 0, 2), (Chunks{{0, 1}, {1, 2}}));  // A chunk is at least one item.
  EXPECT_TRUE(chunks_of(0, 4, 2).empty());
  EXPECT_TRUE(chunks_of(-5, 4, 2).empty());
}

TEST(ThreadPool, VisitsEveryItemOfALargeRange) {
  constexpr std::int64_t kCount = 100'003;
  std::vector<int> visits(kCount, 0);
  ThreadPool(4).chunks(kCount, 17, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  EXPECT_THAT(visits, ::testing::Each(1));
}

TEST(ThreadPool, RethrowsWhatABodyThrew) {
  for (const int threads : {1, 4}) {
    ThreadPool pool(threads);
    std::atomic<int> calls{0};
    const auto failing = [&](std::int64_t begin, std::int64_t) {
      ++calls;
      if (begin == 30) throw NumericError("item {} is not a number", begin);
    };
    try {
      pool.chunks(1'000'000, 1, failing);
      FAIL() << "expected an error";
    } catch (const NumericError& error) {
      EXPECT_STREQ(error.what(), "item 30 is not a number");
    }
    EXPECT_GE(calls, 1);
    EXPECT_LT(calls, 1'000'000) << "the rest should not have been started";
    calls = 0;
    pool.chunks(20, 1, failing);
    EXPECT_EQ(calls, 20) << "the pool is of use afterwards";
  }
}

TEST(ThreadPool, WhenEveryBodyThrowsOneErrorComesOut) {
  const auto failing = [](std::int64_t, std::int64_t) { throw InvalidArgument("no"); };
  EXPECT_THROW(ThreadPool(8).chunks(100, 1, failing), InvalidArgument);
}

TEST(ThreadPool, ZeroMeansEveryCore) {
  EXPECT_EQ(ThreadPool(3).threads(), 3);
  EXPECT_GE(ThreadPool().threads(), 1);
  EXPECT_EQ(ThreadPool(-1).threads(), ThreadPool(0).threads());
}

TEST(ThreadPool, KeepsItsThreadsFromCallToCall) {
  ThreadPool pool(3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int call = 0; call < 200; ++call) {
    std::latch all_here(3);  // nobody goes on until three threads have a chunk
    pool.chunks(3, 1, [&](std::int64_t, std::int64_t) {
      all_here.arrive_and_wait();
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_TRUE(seen.contains(std::this_thread::get_id()));
}

TEST(ThreadPool, MayBeUsedFromInsideABody) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    std::atomic<std::int64_t> visits{0};
    pool.chunks(20, 1, [&](std::int64_t, std::int64_t) {
      pool.chunks(20, 3, [&](std::int64_t begin, std::int64_t end) {
        pool.chunks(end - begin, 1, [&](std::int64_t, std::int64_t) { ++visits; });
      });
    });
    EXPECT_EQ(visits, 400);
  }
}

/// Of two bodies the caller's ends at once; the other asks for two that need each other.
TEST(ThreadPool, ACallerHelpsWithWhatItsChunksAskFor) {
  ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  std::latch both_began(2);
  std::atomic<int> inside{0};
  bool met = false;
  pool.chunks(2, 1, [&](std::int64_t, std::int64_t) {
    both_began.arrive_and_wait();
    if (std::this_thread::get_id() == caller) return;
    pool.chunks(2, 1, [&](std::int64_t, std::int64_t) {
      ++inside;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    });
    met = inside == 2;
  });
  EXPECT_TRUE(met);
}

TEST(ThreadPool, TwoCallersGetOnAtTheSameTime) {
  ThreadPool pool(2);
  std::latch both_busy(2);  // each caller has begun before either can end
  const auto caller = [&] {
    std::atomic<std::int64_t> visits{0};
    pool.chunks(1000, 1, [&](std::int64_t begin, std::int64_t) {
      if (begin == 0) both_busy.arrive_and_wait();
      ++visits;
    });
    EXPECT_EQ(visits, 1000);
  };
  std::thread other(caller);
  caller();
  other.join();
}

TEST(ThreadPool, MeanwhileComesFromTheCallerAlsoWhileItWaits) {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  std::atomic<bool> seen_waiting{false};
  std::latch both_here(2);
  const auto caller = std::this_thread::get_id();
  pool.chunks(
      2, 1,
      [&](std::int64_t, std::int64_t) {
        both_here.arrive_and_wait();
        if (std::this_thread::get_id() == caller) return;
        const int before = calls + 2;  // the caller's own chunk accounts for one
        for (int i = 0; i < 2000 && calls < before; ++i)
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        seen_waiting = calls >= before;
      },
      [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        ++calls;
      });
  EXPECT_TRUE(seen_waiting);
}

TEST(ThreadPool, AnErrorOfMeanwhileComesOutOnceAllHaveLeft) {
  ThreadPool pool(3);
  std::atomic<int> inside{0};
  EXPECT_THROW(pool.chunks(
                   100, 1,
                   [&](std::int64_t, std::int64_t) {
                     ++inside;
                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                     --inside;
                   },
                   [] { throw InvalidArgument("enough"); }),
               InvalidArgument);
  EXPECT_EQ(inside, 0);
}

TEST(Workers, GiveUpBeforeTheNextChunkWhenAskedToStop) {
  for (const int threads : {1, 3}) {
    Workers workers(threads);
    std::atomic<int> done{0};
    workers.stop_requested = [&] { return done >= 5; };
    EXPECT_THROW(workers.chunks(1'000'000, 1, [&](std::int64_t, std::int64_t) { ++done; }),
                 Interrupted);
    EXPECT_GE(done, 5);
    EXPECT_LE(done, 5 + threads);
  }
}

TEST(Workers, CopiesShareOnePool) {
  const Workers one(3);
  const Workers copy = one;
  EXPECT_EQ(one.pool, copy.pool);
  EXPECT_FALSE(copy.should_stop());
  EXPECT_NO_THROW(copy.throw_if_stopped());
}

}  // namespace
}  // namespace kindred
