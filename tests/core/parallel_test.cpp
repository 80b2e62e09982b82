#include "kindred/core/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using Chunks = std::set<std::pair<std::int64_t, std::int64_t>>;

Chunks chunks_of(std::int64_t count, std::int64_t chunk, int threads) {
  Chunks chunks;
  std::mutex mutex;
  parallel_chunks(count, chunk, threads, [&](std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex);
    EXPECT_TRUE(chunks.emplace(begin, end).second) << "a chunk came twice";
  });
  return chunks;
}

TEST(ParallelChunks, CoverTheRangeOnceWhateverTheThreads) {
  const Chunks expected = {{0, 4}, {4, 8}, {8, 10}};
  for (const int threads : {0, 1, 2, 3, 16}) EXPECT_EQ(chunks_of(10, 4, threads), expected);
  EXPECT_EQ(chunks_of(3, 100, 4), (Chunks{{0, 3}}));
  EXPECT_EQ(chunks_of(2, 0, 2), (Chunks{{0, 1}, {1, 2}}));  // A chunk is at least one item.
  EXPECT_TRUE(chunks_of(0, 4, 2).empty());
  EXPECT_TRUE(chunks_of(-5, 4, 2).empty());
}

TEST(ParallelChunks, VisitEveryItemOfALargeRange) {
  constexpr std::int64_t kCount = 100'003;
  std::vector<int> visits(kCount, 0);
  parallel_chunks(kCount, 17, 4, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  EXPECT_THAT(visits, testing::Each(1));
}

TEST(ParallelChunks, RethrowWhatABodyThrew) {
  for (const int threads : {1, 4}) {
    std::atomic<int> calls{0};
    const auto failing = [&](std::int64_t begin, std::int64_t) {
      ++calls;
      if (begin == 30) throw NumericError("item {} is not a number", begin);
    };
    try {
      parallel_chunks(1'000'000, 1, threads, failing);
      FAIL() << "expected an error";
    } catch (const NumericError& error) {
      EXPECT_STREQ(error.what(), "item 30 is not a number");
    }
    EXPECT_GE(calls, 1);
    EXPECT_LT(calls, 1'000'000) << "the rest should not have been started";
  }
}

TEST(ParallelChunks, WhenEveryBodyThrowsOneErrorComesOut) {
  const auto failing = [](std::int64_t, std::int64_t) { throw InvalidArgument("no"); };
  EXPECT_THROW(parallel_chunks(100, 1, 8, failing), InvalidArgument);
}

TEST(ResolveThreads, ZeroMeansEveryCore) {
  EXPECT_EQ(resolve_threads(3), 3);
  EXPECT_GE(resolve_threads(0), 1);
  EXPECT_EQ(resolve_threads(-1), resolve_threads(0));
}

}  // namespace
}  // namespace kindred
