#include "kindred/segments/idle.h"

#include <gmock/gmock.h>

namespace kindred {
namespace {

/// One episode of 100 steps that stands still from `begin` to `end`.
Trajectories standing_still(std::int64_t begin, std::int64_t end) {
  std::vector<float> seen, done;
  for (std::int64_t t = 0; t < 100; ++t) {
    const auto moves = static_cast<float>(t < begin ? t : t < end ? begin : t - (end - begin));
    seen.push_back(moves);
    done.push_back(t >= begin && t < end ? 0.0f : moves * moves);
  }
  Trajectories data;
  data.offsets = std::vector<std::int64_t>{0, 100};
  data.observations = Observations::dense(std::move(seen), 1);
  data.actions = Actions::continuous(std::move(done), 1);
  data.ids = {"0"};
  return data;
}

TEST(Idle, StretchesInWhichNothingHappensAreFound) {
  const auto found = idle_stretches(standing_still(40, 70));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].begin, 40);
  EXPECT_EQ(found[0].end, 70);
}

TEST(Idle, ShortOnesAreNotWorthTelling) {
  EXPECT_TRUE(idle_stretches(standing_still(40, 50)).empty());
  EXPECT_EQ(idle_stretches(standing_still(40, 50), 5).size(), 1u);
}

}  // namespace
}  // namespace kindred
