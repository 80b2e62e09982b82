// Several ranks in the threads of one process, over loopback.
#include "kindred/dist/group.h"

#include <gmock/gmock.h>

#include <cmath>

#include "kindred/dist/common_memory.h"
#include "kindred/dist/spread.h"
#include "tests/dist/rank_threads.h"

namespace kindred {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using kindred::testing::free_port;
using kindred::testing::member;
using kindred::testing::together;

TEST(Group, AddsOverRanks) {
  together(3, [](const auto& ranks) {
    std::vector<double> numbers(1000, static_cast<double>(ranks->rank() + 1));
    ranks->all_reduce(numbers);
    EXPECT_THAT(numbers, Each(6.0));
    std::vector<std::int64_t> whole{std::numeric_limits<std::int64_t>::max(), ranks->rank()};
    ranks->all_reduce(whole);
    EXPECT_EQ(whole[1], 3);
  });
}

TEST(Group, GathersAndExchangesBits) {
  together(3, [](const auto& ranks) {
    const std::string own(static_cast<std::size_t>(ranks->rank()) * 2, 'x');  // the first has none
    const auto all = ranks->gather(std::as_bytes(std::span(own)));
    EXPECT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].size(), 0U);
    EXPECT_EQ(all[2].size(), 4U);

    const std::vector<Share> shares{{0, 1}, {1, 1}, {1, 3}};
    std::vector<double> rows(6, std::numeric_limits<double>::quiet_NaN());
    const auto& share = shares[static_cast<std::size_t>(ranks->rank())];
    for (auto i = 2 * share.begin; i < 2 * share.end; ++i)
      rows[static_cast<std::size_t>(i)] = i == 0 ? -0.0 : static_cast<double>(i);
    exchange(*ranks, shares, 2, std::span(rows));
    EXPECT_THAT(rows, ElementsAre(0.0, 1.0, 2.0, 3.0, 4.0, 5.0));
    EXPECT_TRUE(std::signbit(rows[0]));
  });
}

TEST(Group, FillsAnArrayTogether) {
  constexpr std::int64_t kRows = 1000, kRow = 777;  // several large pages
  for (const bool shares_memory : {true, false})
    together(
        3,
        [&](const auto& ranks) {
          const std::vector<Share> shares{{0, 400}, {400, 400}, {400, kRows}};
          const auto before = ranks->bytes();
          const CommonArray<double> rows(*ranks, shares, kRow);
          const auto& own = shares[static_cast<std::size_t>(ranks->rank())];
          for (auto i = own.begin * kRow; i < own.end * kRow; ++i)
            rows.span()[static_cast<std::size_t>(i)] = static_cast<double>(i);
          rows.complete(*ranks);
          for (std::int64_t i = 0; i < kRows * kRow; ++i)
            ASSERT_EQ(rows.span()[static_cast<std::size_t>(i)], static_cast<double>(i));
          EXPECT_EQ(ranks->shares_memory(), shares_memory);
          const auto moved = ranks->bytes() - before;
          EXPECT_EQ(moved < kRows * kRow, shares_memory) << moved;
        },
        shares_memory);
}

TEST(Group, WhatIsLeftOfCommonMemoryStaysValid) {
  together(2, [](const auto& ranks) {
    std::shared_ptr<std::byte> first = ranks->common_memory(100);
    std::shared_ptr<std::byte> second = ranks->common_memory(std::size_t{5} << 20U);
    ASSERT_TRUE(first && second);
    if (ranks->is_first()) second.get()[(std::size_t{5} << 20U) - 1] = std::byte{7};
    meet(*ranks);
    first.reset();
    EXPECT_EQ(second.get()[0], std::byte{0});
    EXPECT_EQ(second.get()[(std::size_t{5} << 20U) - 1], std::byte{7});
    EXPECT_EQ(ranks->common_memory(0), nullptr);
    meet(*ranks);
  });
}

TEST(Group, TakesCommonMemoryWithoutAnExchange) {
  together(3, [](const auto& ranks) {
    const auto own = static_cast<std::size_t>(ranks->rank());
    std::vector<std::shared_ptr<std::byte>> taken;
    const auto take = [&] {
      taken.push_back(ranks->common_memory(100));
      ASSERT_TRUE(taken.back());
      taken.back().get()[own] = static_cast<std::byte>(taken.size());
    };
    take();
    const auto before = ranks->bytes();
    for (int i = 0; i < 5; ++i) take();
    EXPECT_EQ(ranks->bytes(), before);
    while (taken.size() < 40) take();  // until those that were made at once are used up
    meet(*ranks);
    for (std::size_t i = 0; i < taken.size(); ++i)
      for (std::size_t r = 0; r < 3; ++r)
        ASSERT_EQ(taken[i].get()[r], static_cast<std::byte>(i + 1)) << i << " of rank " << r;
  });
}

TEST(Group, SpreadsPieces) {
  for (const std::int64_t size : {2, 3})
    together(size, [](const auto& ranks) {
      RunContext run;
      run.communicator = ranks;
      std::vector<std::int64_t> results(7, -1);
      std::atomic<std::int64_t> done = 0;
      spread(run,
             {.pieces = 7,
              .work =
                  [&](std::int64_t i) {
                    results[static_cast<std::size_t>(i)] = 10 * i;
                    ++done;
                  },
              .pack = [&](std::int64_t i,
                          Packer& to) { to.add(results[static_cast<std::size_t>(i)]); },
              .unpack = [&](std::int64_t i,
                            Unpacker& from) { from.take(results[static_cast<std::size_t>(i)]); },
              .meanwhile = {}});
      EXPECT_THAT(results, ElementsAre(0, 10, 20, 30, 40, 50, 60));
      EXPECT_LT(done, 7);
    });
}

TEST(Group, JoinsAgainAtAStoreThatStays) {
  const auto port = free_port();
  auto keeper = member(0, 2, port);
  const auto store = keep_store(keeper);
  for (const std::string prefix : {"first/", "second/"}) {
    std::vector<std::thread> ranks;
    for (std::int64_t r = 0; r < 2; ++r)
      ranks.emplace_back([&, r] {
        auto options = member(r, 2, port);
        options.keeps_store = false;
        options.prefix = prefix;
        const auto own = join_group(options);
        std::int64_t number = r + 1;
        own->all_reduce({&number, 1});
        EXPECT_EQ(number, 3);
        if (prefix == "first/" && r == 1) own->fail("the first time it could not");
        if (prefix == "second/") own->leave();
      });
    for (auto& rank : ranks) rank.join();
  }
}

TEST(Group, WhoFailsIsNamedToThoseWhoWait) {
  const auto port = free_port();
  std::string heard;
  std::thread other([&] {
    const auto own = join_group(member(1, 2, port));
    own->fail("its disk is full");
  });
  {
    const auto own = join_group(member(0, 2, port));
    other.join();
    // The other's connections are gone with it, or it says why.
    std::vector<double> numbers(10);
    try {
      own->all_reduce(numbers);
    } catch (const PeerLost& lost) {
      heard = lost.what();
    }
  }
  EXPECT_THAT(heard, HasSubstr("rank 1 on "));
  EXPECT_THAT(heard, HasSubstr("its disk is full"));
}

TEST(Group, WhereNobodyListensNobodyJoins) {
  auto options = member(1, 2, free_port());
  options.patience = std::chrono::seconds(1);
  EXPECT_THROW(join_group(options), PeerLost);
}

}  // namespace
}  // namespace kindred
