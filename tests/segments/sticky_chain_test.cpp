#include "kindred/segments/sticky_chain.h"

#include <gmock/gmock.h>

#include <cmath>

#include "kindred/core/random.h"
#include "kindred/segments/state_gate.h"

namespace kindred {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Gt;

/// Two policies; the first explains the first `change` of the steps by `nats` better, then the
/// other.
Matrix turn_at(std::int64_t change, std::int64_t steps, double nats) {
  Matrix scores(steps, 2);
  for (std::int64_t t = 0; t < steps; ++t) scores(t, t < change ? 1 : 0) = -nats;
  return scores;
}

TEST(StickyChain, FollowsASwitch) {
  const auto nats = turn_at(30, 60, 1.0);
  const std::vector<std::int64_t> offsets{0, 60};
  const auto actors = most_likely_actors({nats, offsets}, 0.01, Workers(1));
  EXPECT_EQ(count_switches(actors, offsets), 1);
  EXPECT_EQ(actors[29], 0);
  EXPECT_EQ(actors[30], 1);
}

TEST(StickyChain, IsNotMovedByAFewSteps) {
  auto nats = turn_at(60, 60, 1.0);
  for (std::int64_t t = 20; t < 24; ++t) std::swap(nats(t, 0), nats(t, 1));
  const std::vector<std::int64_t> offsets{0, 60};
  EXPECT_THAT(most_likely_actors({nats, offsets}, 0.01, Workers(1)), Each(0));
}

TEST(StickyChain, EpisodesBeginAnew) {
  const auto nats = turn_at(3, 6, 1.0);
  const std::vector<std::int64_t> offsets{0, 3, 6};
  const auto actors = most_likely_actors({nats, offsets}, 1e-9, Workers(1));
  EXPECT_THAT(actors, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_EQ(count_switches(actors, offsets), 0);
}

TEST(StickyChain, PosteriorsAreUnclearNearASwitchOnly) {
  const auto nats = turn_at(30, 60, 1.0);
  const std::vector<std::int64_t> offsets{0, 60};
  const auto chance = fit_chain({nats, offsets}, 0.01, Workers(1)).posteriors;
  EXPECT_GT(chance(0, 0), 0.99);
  EXPECT_GT(chance(59, 1), 0.99);
  EXPECT_LT(chance(30, 1), 0.95);
  for (std::int64_t t = 0; t < 60; ++t) {
    EXPECT_GT(chance(t, t < 30 ? 0 : 1), 0.5);
    EXPECT_NEAR(chance(t, 0) + chance(t, 1), 1.0, 1e-12);
  }
}

TEST(StickyChain, TheLikelihoodIsThatOfEveryWayToTakeTurns) {
  Matrix nats(2, 2);
  nats(0, 0) = -0.5, nats(0, 1) = -1.0, nats(1, 0) = -2.0, nats(1, 1) = -0.1;
  const std::vector<std::int64_t> offsets{0, 2};
  constexpr double kRate = 0.2;
  double all = 0.0, switched = 0.0;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 2; ++j) {
      const double way = 0.5 * (i == j ? 1.0 - kRate : kRate) * std::exp(nats(0, i) + nats(1, j));
      all += way;
      if (i != j) switched += way;
    }
  const auto fit = fit_chain({nats, offsets}, kRate, Workers(1));
  EXPECT_NEAR(fit.log_likelihood, std::log(all), 1e-12);
  EXPECT_NEAR(fit.switches, switched / all, 1e-12);
}

TEST(StickyChain, OfOnePolicyEveryoneIsSure) {
  const Matrix nats(3, 1);
  const std::vector<std::int64_t> offsets{0, 3};
  const auto fit = fit_chain({nats, offsets}, 0.01, Workers(1));
  EXPECT_THAT(fit.posteriors.values, Each(1.0));
  EXPECT_NEAR(fit.log_likelihood, 0.0, 1e-12);
}

TEST(StickyChain, WhereNobodyCanKnowTheIntervalIsWide) {
  auto nats = turn_at(30, 60, 2.0);
  for (std::int64_t t = 25; t < 40; ++t) nats(t, 0) = nats(t, 1) = 0.0;  // both would do the same
  const auto sharp = locate(turn_at(30, 60, 5.0), 0, 30, 60, 0, 1);
  const auto wide = locate(nats, 0, 30, 60, 0, 1);
  EXPECT_EQ(sharp.earliest, 30);
  EXPECT_EQ(sharp.latest, 30);
  EXPECT_LE(wide.earliest, 26);
  EXPECT_GE(wide.latest, 38);
}

TEST(StickyChain, TheRateCountsSwitchesThatLeaveLittleTrace) {
  constexpr std::int64_t kMany = 400, kShort = 50;
  constexpr double kRate = 0.03, kTold = 1.0;
  Random rng(3);
  Matrix nats(kMany * kShort, 2);
  std::vector<std::int64_t> offsets{0};
  std::int64_t switches = 0;
  for (std::int64_t e = 0; e < kMany; ++e) {
    int actor = rng.uniform() < 0.5;
    for (std::int64_t t = 0; t < kShort; ++t) {
      if (t > 0 && rng.uniform() < kRate) actor = 1 - actor, ++switches;
      // Two likelihoods of unit variance whose means lie kTold apart.
      const double seen = rng.normal() + (actor == 0 ? 0.5 : -0.5) * kTold;
      nats(offsets.back() + t, 0) = seen * kTold;
    }
    offsets.push_back(offsets.back() + kShort);
  }
  const auto places = static_cast<double>(kMany * (kShort - 1));
  const double truth = static_cast<double>(switches) / places;
  const StepScores scores{nats, offsets};
  const double first = switch_rate(0, nats.rows);
  const auto actors = most_likely_actors(scores, truth, Workers(2));
  EXPECT_LT(static_cast<double>(count_switches(actors, offsets)),
            0.5 * static_cast<double>(switches));
  EXPECT_NEAR(likely_rate(scores, first, Workers(2)), truth, 0.25 * truth);
  EXPECT_DOUBLE_EQ(likely_rate(scores, 0.2, Workers(2)), 0.2);  // it does not go down
}

TEST(StickyChain, NamingCostsForSwitchesNotForTheirAbsence) {
  const std::vector<std::int64_t> offsets{0, 50, 100};
  std::vector<std::int32_t> actors(100, 0);
  EXPECT_DOUBLE_EQ(naming_cost(actors, offsets, 2), 0.0);
  for (std::size_t t = 70; t < 100; ++t) actors[t] = 1;
  EXPECT_GT(naming_cost(actors, offsets, 2), 4.0);
}

TEST(StateGate, LearnsWhichSideAStateIsOn) {
  TwoKinds sample{.features = 2, .firsts = 50};
  for (int i = 0; i < 100; ++i) {
    sample.rows.push_back(1.0F);
    sample.rows.push_back(static_cast<float>(i < 50 ? 1.0 + 0.01 * i : -1.0 - 0.01 * i));
  }
  const auto odds = fit_log_odds(sample);
  EXPECT_GT(odds[0] + odds[1], 1.0);
  EXPECT_LT(odds[0] - odds[1], -1.0);
}

TEST(StateGate, EndsWhereAllRowsHaveNoSlope) {
  // So many that the first steps look at some of them only; the two kinds overlap.
  constexpr std::int64_t kRows = 3000;
  TwoKinds sample{.features = 2, .firsts = kRows / 2, .first_weight = 2.0};
  Random random(1, "gate");
  for (std::int64_t i = 0; i < kRows; ++i) {
    sample.rows.push_back(1.0F);
    sample.rows.push_back(static_cast<float>(random.normal() + (i < sample.firsts ? 0.7 : -0.7)));
  }
  const auto odds = fit_log_odds(sample);
  double slope[2] = {-odds[0], -odds[1]};  // of the ridge
  for (std::int64_t i = 0; i < kRows; ++i) {
    const float* row = sample.rows.data() + 2 * i;
    const bool first = i < sample.firsts;
    const double chance = 1.0 / (1.0 + std::exp(-(odds[0] * row[0] + odds[1] * row[1])));
    for (int m = 0; m < 2; ++m)
      slope[m] += (first ? 2.0 : 1.0) * ((first ? 1.0 : 0.0) - chance) * row[m];
  }
  EXPECT_NEAR(slope[0], 0.0, 1.0) << "of 3,000 rows";
  EXPECT_NEAR(slope[1], 0.0, 1.0);
}

}  // namespace
}  // namespace kindred
