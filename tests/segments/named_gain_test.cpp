#include "kindred/segments/named_gain.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

constexpr std::int64_t kSteps = 100;  // of an episode

/// Where knowing the policy tells so many nats a step, in each of the episodes.
NamedGain gain_of(const std::vector<double>& per_step) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t e = 0; e < per_step.size(); ++e) offsets.push_back(offsets.back() + kSteps);
  Matrix nats(offsets.back(), 2);
  std::vector<std::int32_t> labels;
  for (std::int64_t t = 0; t < offsets.back(); ++t) {
    labels.push_back(static_cast<std::int32_t>(t / kSteps % 2));
    nats(t, labels.back()) = per_step[static_cast<std::size_t>(t / kSteps)];
  }
  const std::vector<double> as_one(labels.size(), 0.0);
  return named_gain(nats, as_one, labels, offsets, 0, 1);
}

TEST(NamedGain, IsClearWhereNearlyEveryEpisodeTellsAllItCan) {
  EXPECT_TRUE(gain_of({1.0, 2.0, 1.0, 3.0}).is_clear);
  EXPECT_FALSE(gain_of({1.0, 2.0, 1.0, 0.0}).is_clear) << "one of four says nothing";
  EXPECT_FALSE(gain_of({0.03, 0.03, 0.03, 0.03}).is_clear) << "3 nats an episode";
  EXPECT_FALSE(gain_of({}).is_clear);
}

TEST(NamedGain, IsLittleWhereManyEpisodesTellLittle) {
  EXPECT_TRUE(gain_of(std::vector<double>(12, 0.005)).is_little);
  EXPECT_FALSE(gain_of(std::vector<double>(11, 0.005)).is_little) << "too few to prove it";
  EXPECT_FALSE(gain_of(std::vector<double>(12, 0.02)).is_little);
  EXPECT_FALSE(gain_of(std::vector<double>(12, 0.005)).is_clear);
}

}  // namespace
}  // namespace kindred
