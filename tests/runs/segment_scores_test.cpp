// What becomes of takeovers: found, in an interval, said to be unsure, or none of these.
#include "kindred/runs/segment_scores.h"

#include <gmock/gmock.h>

#include <functional>

#include "kindred/segments/sticky_chain.h"

namespace kindred {
namespace {

constexpr std::int64_t kLength = 40;

/// Two policies; in every episode the second takes over at step 20, and `told` says how many nats
/// each step of the episode tells them apart by.
struct Made {
  Trajectories data;
  Matrix nats;

  explicit Made(const std::vector<std::function<double(std::int64_t)>>& told)
      : nats(kLength * std::ssize(told), 2) {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> actors;
    for (const auto& of_step : told) {
      for (std::int64_t t = 0; t < kLength; ++t) {
        actors.push_back(t < 20 ? 5 : 3);  // names of policies are not what is compared
        nats(offsets.back() + t, t < 20 ? 1 : 0) = -of_step(t);
      }
      offsets.push_back(offsets.back() + kLength);
    }
    data.offsets = std::move(offsets);
    data.actors = std::move(actors);
  }

  nlohmann::ordered_json scores() const {
    return score_segments(data, segment_known(nats, data.offsets.span(), 0.01, Workers(1)));
  }
};

double clearly(std::int64_t) { return 3.0; }
/// From step 16 on nothing can be seen, so no switch is found.
double not_at_the_end(std::int64_t t) { return t < 16 ? 3.0 : 0.0; }
/// Both act alike around the takeover.
double not_in_the_middle(std::int64_t t) { return t < 12 || t >= 30 ? 3.0 : 0.0; }

TEST(SegmentScores, ClearTakeoversAreFound) {
  const auto scores = Made({clearly, clearly}).scores();
  EXPECT_EQ(scores["switches"], 2);
  EXPECT_EQ(scores["seen"], 2);
  EXPECT_EQ(scores["inside_interval"], 2);
  EXPECT_EQ(scores["said_unsure"], 0);
  EXPECT_EQ(scores["neither"], 0);
  EXPECT_EQ(scores["invented"], 0);
  EXPECT_EQ(scores["accuracy"], 1.0);
}

TEST(SegmentScores, WhereBothActAlikeTheIntervalHoldsIt) {
  const auto scores = Made({clearly, not_in_the_middle}).scores();
  EXPECT_EQ(scores["inside_interval"], 2);
}

TEST(SegmentScores, WhatLeavesNoTraceIsSaidToBeUnsure) {
  const auto scores = Made({clearly, clearly, not_at_the_end}).scores();
  EXPECT_EQ(scores["seen"], 2);
  // The chance of the first falls below 90 % only some ten steps after its last trace.
  EXPECT_EQ(scores["said_unsure"], 1);
  EXPECT_EQ(scores["neither"], 0);
  EXPECT_LT(scores["accuracy"], scores["expected"]);
}

TEST(SegmentScores, PosteriorsAreComparedWithTheShareThatIsRight) {
  const auto kinds = Made({clearly, clearly, not_at_the_end}).scores()["posteriors"];
  std::int64_t steps = 0;
  double right = 0.0;
  for (const auto& one : kinds) {
    steps += one["steps"].get<std::int64_t>();
    right += one["steps"].get<double>() * one["right"].get<double>();
  }
  EXPECT_EQ(steps, 3 * kLength);
  EXPECT_NEAR(right, 3 * kLength - 20, 1e-9);  // the end of the third episode is not
}

}  // namespace
}  // namespace kindred
