#include "kindred/nn/sequence_batch.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

using Numbers = std::vector<std::int64_t>;

SequenceBatch packed(Numbers lengths) {
  SequenceBatch batch;
  pack(std::move(lengths), batch);
  return batch;
}

TEST(Pack, CountsTheSequencesStillRunningAtEachTime) {
  const auto batch = packed({4, 2, 2, 1});
  EXPECT_EQ(batch.time_offsets, (Numbers{0, 4, 7, 8, 9}));
  EXPECT_EQ(batch.steps(), 9);
  EXPECT_EQ(batch.longest(), 4);
  EXPECT_EQ(batch.active(0), 4);
  EXPECT_EQ(batch.active(1), 3);
  EXPECT_EQ(batch.active(3), 1);
}

TEST(Pack, TakesOneSequenceEqualOnesAndSingleSteps) {
  EXPECT_EQ(packed({3}).time_offsets, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(packed({2, 2, 2}).time_offsets, (Numbers{0, 3, 6}));
  EXPECT_EQ(packed({1, 1}).time_offsets, (Numbers{0, 2}));
}

TEST(Pack, TakesNothingAndSequencesWithoutSteps) {
  for (const Numbers& lengths : {Numbers{}, Numbers{0}, Numbers{0, 0}}) {
    const auto batch = packed(lengths);
    EXPECT_EQ(batch.sequences(), static_cast<std::int64_t>(lengths.size()));
    EXPECT_EQ(batch.longest(), 0);
    EXPECT_EQ(batch.steps(), 0);
  }
  EXPECT_EQ(packed({2, 0}).time_offsets, (Numbers{0, 1, 2}));
}

TEST(Pack, ReplacesAnEarlierPacking) {
  auto batch = packed({5, 3});
  pack({1}, batch);
  EXPECT_EQ(batch.lengths, (Numbers{1}));
  EXPECT_EQ(batch.time_offsets, (Numbers{0, 1}));
}

}  // namespace
}  // namespace kindred
