#include "kindred/dist/communicator.h"

#include <gmock/gmock.h>

#include "kindred/dist/spread.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;

TEST(Communicator, AloneItDoesNothing) {
  RunContext run;
  auto& ranks = ranks_of(run);
  EXPECT_EQ(ranks.rank(), 0);
  EXPECT_EQ(ranks.size(), 1);
  std::vector<double> numbers{1.0, 2.0};
  ranks.all_reduce(numbers);
  EXPECT_THAT(numbers, ElementsAre(1.0, 2.0));
  EXPECT_EQ(ranks.gather(std::as_bytes(std::span(numbers))).size(), 1U);
}

TEST(Communicator, SharesCoverEverythingOnce) {
  for (const std::int64_t count : {0, 1, 5, 64, 1001})
    for (const std::int64_t ranks : {1, 2, 3, 7, 64}) {
      std::int64_t next = 0;
      for (std::int64_t r = 0; r < ranks; ++r) {
        const auto share = share_of(count, r, ranks);
        EXPECT_EQ(share.begin, next);
        EXPECT_LE(share.size(), count / ranks + 1);
        next = share.end;
      }
      EXPECT_EQ(next, count);
    }
}

TEST(Packing, GivesBackWhatWasPutIn) {
  Packer packer;
  packer.add(std::int64_t{-7});
  packer.add(std::vector<double>{0.1, -0.0, 1e300});
  packer.add(std::string("a name"));
  packer.add(std::vector<std::int32_t>{});
  Unpacker from(packer.bytes());
  std::int64_t number = 0;
  std::vector<double> numbers;
  std::string text;
  std::vector<std::int32_t> none{1};
  from.take(number);
  from.take(numbers);
  from.take(text);
  from.take(none);
  EXPECT_EQ(number, -7);
  EXPECT_THAT(numbers, ElementsAre(0.1, -0.0, 1e300));
  EXPECT_TRUE(std::signbit(numbers[1]));
  EXPECT_EQ(text, "a name");
  EXPECT_TRUE(none.empty());
  EXPECT_THROW(from.take(number), PeerLost);
}

TEST(Spread, OneProcessDoesAllPieces) {
  RunContext run;
  std::vector<std::int64_t> done(7, 0);
  spread(run, {.pieces = 7,
               .work = [&](std::int64_t i) { done[static_cast<std::size_t>(i)] = i * i; },
               .pack = {},
               .unpack = {},
               .meanwhile = {}});
  EXPECT_THAT(done, ElementsAre(0, 1, 4, 9, 16, 25, 36));
}

}  // namespace
}  // namespace kindred
