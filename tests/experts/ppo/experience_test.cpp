// What is written down while a policy acts, and what becomes of it.
#include "kindred/experts/ppo/experience.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kindred/core/error.h"
#include "kindred/experts/ppo/learner.h"
#include "tests/envs/drift.h"
#include "tests/experts/ppo/chain.h"

namespace kindred::ppo {
namespace {

/// Two lanes of four steps: one ends by itself, is followed by an episode that is still running
/// at the end; the other is cut by its horizon, then one ends with the collection's last step.
Experience two_lanes() {
  Experience e;
  e.rewards = {1, 0, 2, 1, 3, 1, 0, -1};
  e.values = {1, 3, 2, 4, 2, 1, 4, 2};
  e.cut_values = {0, 0, 0, 8, 6, 0, 0, 0};
  e.endings = {Ending::kNone,    Ending::kTerminal, Ending::kNone, Ending::kNone,
               Ending::kTimeout, Ending::kNone,     Ending::kNone, Ending::kTerminal};
  return e;
}

// By hand, with rewards doubled, a discount of 1/2 and a trace of 1/2: from the last step of each
// lane to its first, 2 r + next / 2 - value, plus a quarter of what follows in the same episode.
TEST(EstimateAdvantages, MatchesACalculationByHand) {
  auto e = two_lanes();
  estimate_advantages({.lanes = 2, .lane_steps = 4, .discount = 0.5, .trace = 0.5}, 2.0F, e);
  const std::vector<double> advantages = {1.75, -3.0, 4.5, 2.0, 7.0, 2.0, -4.0, -4.0};
  EXPECT_THAT(e.returns, ::testing::ElementsAre(2.75F, 0.0F, 6.5F, 6.0F, 9.0F, 3.0F, 0.0F, -2.0F));

  double mean = 0.0, variance = 0.0;
  for (const double advantage : advantages) mean += advantage / 8.0;
  for (const double advantage : advantages) variance += std::pow(advantage - mean, 2) / 8.0;
  for (std::size_t i = 0; i < advantages.size(); ++i)
    EXPECT_NEAR(static_cast<double>(e.advantages[i]), (advantages[i] - mean) / std::sqrt(variance),
                1e-6);
}

/// With a trace of 1 the return of a step is the discounted sum of the rewards after it.
TEST(EstimateAdvantages, WholeTracesGiveDiscountedReturns) {
  auto e = two_lanes();
  estimate_advantages({.lanes = 2, .lane_steps = 4, .discount = 0.5, .trace = 1.0}, 1.0F, e);
  EXPECT_THAT(e.returns, ::testing::ElementsAre(1.0F, 0.0F, 2.0F + 0.5F + 2.0F, 1.0F + 4.0F,
                                                3.0F + 3.0F, 1.0F - 0.25F, -0.5F, -1.0F));
}

TEST(RunningStatistics, MatchPlainMeanAndDeviation) {
  RunningStatistics statistics(2, 1e6);
  EXPECT_EQ(statistics.deviation(), 1.0);  // nothing seen: leave numbers as they are
  Random random(1);
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 500; ++i) {
    rows.push_back({3.0 + 2.0 * random.normal(), 1000.0 + 0.1 * random.normal()});
    statistics.add(rows.back());
  }
  for (std::size_t column = 0; column < 2; ++column) {
    double mean = 0.0, variance = 0.0;
    for (const auto& row : rows) mean += row[column] / 500.0;
    for (const auto& row : rows) variance += std::pow(row[column] - mean, 2) / 500.0;
    EXPECT_NEAR(statistics.mean(column), mean, 1e-9);
    EXPECT_NEAR(statistics.deviation(column), std::sqrt(variance), 1e-9);
  }
}

/// Beyond the memory, row number i from the end weighs (1 - 1/memory)^i.
TEST(RunningStatistics, OldRowsFade) {
  constexpr double kMemory = 50.0;
  RunningStatistics statistics(1, kMemory);
  Random random(2);
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) {
    values.push_back((i < 1000 ? 100.0 : -5.0) + random.normal());
    statistics.add(std::span(&values.back(), 1));
  }
  double weight = 1.0, weights = 0.0, mean = 0.0, variance = 0.0;
  for (auto i = values.size(); i-- > 0; weight *= 1.0 - 1.0 / kMemory) {
    weights += weight;
    mean += weight * values[i];
  }
  mean /= weights;
  weight = 1.0;
  for (auto i = values.size(); i-- > 0; weight *= 1.0 - 1.0 / kMemory)
    variance += weight * std::pow(values[i] - mean, 2) / weights;
  EXPECT_NEAR(statistics.mean(), mean, 1e-6);
  EXPECT_NEAR(statistics.deviation(), std::sqrt(variance), 1e-6);
}

TEST(RunningStatistics, ContinueWhereTheyWereSaved) {
  RunningStatistics statistics(3, 20.0);
  Random random(3);
  const auto add = [&](RunningStatistics& to, Random from) {
    for (int i = 0; i < 30; ++i)
      to.add(std::vector{from.normal(), 2.0 * from.normal(), 7.0 + from.normal()});
  };
  add(statistics, random);
  RunningStatistics other(3, 20.0);
  other.restore(statistics.save());
  add(statistics, Random(4));
  add(other, Random(4));
  EXPECT_EQ(other.save(), statistics.save());
  EXPECT_THROW(other.restore(std::vector<double>(6)), DataFormatError);
  EXPECT_THROW(other.restore({}), DataFormatError);
}

const PpoOptions kCollecting{
    .lanes = 20, .lane_steps = 15, .hidden = 16, .seed = 5, .workers = Workers(1)};

/// One collection after the other, from the start.
std::vector<Experience> collect(const Environment& environment, const PpoOptions& options,
                                std::size_t times = 1, std::uint64_t round = 0) {
  const Learner learner(environment.spec(), options);
  Collector collector(environment, options);
  collector.restart(round);
  std::vector<Experience> all(times);
  for (auto& experience : all) collector.collect(learner.networks(), experience);
  return all;
}

std::int32_t cell_of(std::span<const float> inputs, std::int64_t row) {
  const auto cells = inputs.subspan(static_cast<std::size_t>(row * Chain::kCells), Chain::kCells);
  return static_cast<std::int32_t>(std::ranges::max_element(cells) - cells.begin());
}

std::int32_t moved(std::int32_t cell, std::int32_t action) {
  return std::max(0, cell + (action == Chain::kRight ? 1 : action == 0 ? -1 : 0));
}

/// Walks along every lane of two collections and recounts what happened.
TEST(Collector, WritesDownWhatHappened) {
  const Chain chain;
  const auto parts = collect(chain, kCollecting, 2);
  std::array<std::vector<double>, 2> returns, lengths;
  for (std::int64_t lane = 0; lane < kCollecting.lanes; ++lane) {
    double sum = 0.0, length = 0.0;
    std::int32_t next = -1;  // where the agent must be, unless an episode begins
    for (std::size_t part = 0; part < 2; ++part)
      for (std::int64_t t = 0; t < kCollecting.lane_steps; ++t) {
        const auto& e = parts[part];
        const auto row = static_cast<std::size_t>(lane * kCollecting.lane_steps + t);
        const auto cell = cell_of(e.inputs, static_cast<std::int64_t>(row));
        ASSERT_TRUE(next < 0 || cell == next);
        next = moved(cell, e.discrete[row]);
        const bool paid = next == Chain::kCells - 1;
        sum += paid ? 1.0 : static_cast<double>(-0.1F);
        length += 1.0;
        const bool cut = !paid && length == static_cast<double>(chain.spec().horizon);
        ASSERT_EQ(e.rewards[row], paid ? 1.0F : -0.1F);
        ASSERT_EQ(e.endings[row], paid  ? Ending::kTerminal
                                  : cut ? Ending::kTimeout
                                        : Ending::kNone);
        if (!paid && !cut) continue;
        returns[part].push_back(sum);
        lengths[part].push_back(length);
        sum = length = 0.0;
        next = -1;
      }
  }
  for (std::size_t part = 0; part < 2; ++part) {
    EXPECT_GT(returns[part].size(), 20U);
    EXPECT_THAT(parts[part].episode_returns,
                ::testing::UnorderedPointwise(::testing::DoubleNear(1e-6), returns[part]));
    EXPECT_THAT(parts[part].episode_lengths, ::testing::UnorderedElementsAreArray(lengths[part]));
  }
}

TEST(Collector, ValuesAndProbabilitiesAreTheNetworks) {
  const Chain chain;
  const Learner learner(chain.spec(), kCollecting);
  const auto& networks = learner.networks();
  const auto e = collect(chain, kCollecting).front();
  ASSERT_EQ(e.rows(), kCollecting.batch());
  ASSERT_EQ(e.observations, e.inputs);  // nothing is known about them yet
  Mlp::Pass pass;
  const auto value_of = [&](const std::vector<float>& input) {
    return networks.critic.forward(1, input.data(), pass).front();
  };
  int cuts = 0;
  for (std::int64_t row = 0; row < e.rows(); ++row) {
    const auto i = static_cast<std::size_t>(row);
    const auto cell = cell_of(e.inputs, row);
    const auto input = Chain::observation(cell);
    ASSERT_EQ(e.values[i], value_of(input));
    const auto outputs = networks.actor.forward(1, input.data(), pass);
    double sum = 0.0;
    for (std::size_t a = 0; a < 3; ++a) sum += std::exp(static_cast<double>(outputs[a]));
    const auto logit = outputs[static_cast<std::size_t>(e.discrete[i])];
    ASSERT_NEAR(static_cast<double>(e.log_probabilities[i]),
                static_cast<double>(logit) - std::log(sum), 1e-5);
    const bool runs_on = e.endings[i] == Ending::kNone && (row + 1) % kCollecting.lane_steps != 0;
    const bool cut = !runs_on && e.endings[i] != Ending::kTerminal;
    ASSERT_EQ(e.cut_values[i],
              cut ? value_of(Chain::observation(moved(cell, e.discrete[i]))) : 0.0F);
    cuts += cut;
  }
  EXPECT_GT(cuts, 20);
}

TEST(Collector, ContinuousActionsAreScoredByDensity) {
  const Drift drift;
  const Learner learner(drift.spec(), kCollecting);
  const auto e = collect(drift, kCollecting).front();
  ASSERT_EQ(e.continuous.size(), 2 * e.rewards.size());
  Mlp::Pass pass;
  for (std::size_t row = 0; row < e.rewards.size(); ++row) {
    const auto means = learner.networks().actor.forward(1, e.inputs.data() + 2 * row, pass);
    const std::vector<float> gaussian = {means[0], means[1], 1.0F, 1.0F};
    ASSERT_NEAR(static_cast<double>(e.log_probabilities[row]),
                gaussian_log_density(gaussian, std::span(e.continuous).subspan(2 * row, 2)), 1e-5);
  }
}

TEST(Collector, ThreadsDoNotMatterButRoundsDo) {
  const Drift drift;
  const auto one = collect(drift, kCollecting, 2);
  auto options = kCollecting;
  options.workers = Workers(3);
  const auto three = collect(drift, options, 2);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(three[i].inputs, one[i].inputs);
    EXPECT_EQ(three[i].continuous, one[i].continuous);
    EXPECT_EQ(three[i].values, one[i].values);
    EXPECT_EQ(three[i].cut_values, one[i].cut_values);
    EXPECT_EQ(three[i].episode_returns, one[i].episode_returns);
  }
  EXPECT_NE(one[0].inputs, one[1].inputs);
  EXPECT_NE(collect(drift, kCollecting, 1, 1).front().inputs, one[0].inputs);
}

}  // namespace
}  // namespace kindred::ppo
