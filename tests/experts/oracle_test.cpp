#include "kindred/experts/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/rollout.h"
#include "kindred/metrics/clustering_scores.h"

namespace kindred {
namespace {

double ceiling(const std::string& name) {
  const auto data = generate(*make_environment(name), {.seed = 1});  // paper size
  return normalized_mutual_information(data.oracle.span(), data.labels.span());
}

class Oracle : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Environments, Oracle,
                         ::testing::Values("diagonal", "takeball", "takeball-permuted", "bandit"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Oracle, OwnExpertExplainsEveryEpisodeFully) {
  const auto environment = make_environment(GetParam());
  const auto experts = make_experts(*environment);
  const auto data = rollout(*environment, experts, {.per_expert = 500, .seed = 1});
  const auto scores = log_likelihoods(data, *environment, experts);
  const auto labels = oracle_labels(data, *environment, experts);
  ASSERT_EQ(scores.size(), static_cast<std::size_t>(data.episodes()) * experts.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = std::span(scores).subspan(i * experts.size(), experts.size());
    const auto own = static_cast<std::size_t>(data.labels.span()[i]);
    ASSERT_EQ(row[own], 0.0);  // deterministic experts: what happened was certain
    for (const double score : row) ASSERT_TRUE(score == 0.0 || std::isinf(score));
    // Ties go to the first expert that fits.
    ASSERT_LE(labels[i], data.labels.span()[i]);
    ASSERT_EQ(row[static_cast<std::size_t>(labels[i])], 0.0);
    for (std::int32_t j = 0; j < labels[i]; ++j)
      ASSERT_TRUE(std::isinf(row[static_cast<std::size_t>(j)]));
  }
}

TEST_P(Oracle, DenseObservationsScoreAsInternedOnes) {
  const auto environment = make_environment(GetParam());
  const auto experts = make_experts(*environment);
  const auto interned = rollout(*environment, experts, {.per_expert = 40, .seed = 2});
  auto dense = interned;
  const auto dim = interned.observations.dim();
  std::vector<float> rows(static_cast<std::size_t>(interned.steps() * dim));
  interned.observations.copy(0, interned.steps(), rows.data());
  dense.observations = Observations::dense(std::move(rows), dim);
  EXPECT_EQ(log_likelihoods(dense, *environment, experts),
            log_likelihoods(interned, *environment, experts));
}

TEST_P(Oracle, StepsAddUpToEpisodes) {
  const auto environment = make_environment(GetParam());
  const auto experts = make_experts(*environment);
  const auto data = rollout(*environment, experts, {.per_expert = 30, .seed = 4});
  const auto of_steps = step_log_likelihoods(data, *environment, experts);
  std::vector<double> sums(static_cast<std::size_t>(data.episodes()) * experts.size(), 0.0);
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      for (std::size_t p = 0; p < experts.size(); ++p)
        sums[static_cast<std::size_t>(i) * experts.size() + p] +=
            of_steps[static_cast<std::size_t>(t) * experts.size() + p];
  EXPECT_EQ(sums, log_likelihoods(data, *environment, experts));
}

TEST_P(Oracle, ThreadsDoNotMatter) {
  const auto environment = make_environment(GetParam());
  const auto experts = make_experts(*environment);
  const auto data = rollout(*environment, experts, {.per_expert = 700, .seed = 3});
  EXPECT_EQ(log_likelihoods(data, *environment, experts, Workers(1)),
            log_likelihoods(data, *environment, experts, Workers(3)));
}

// "Balanced" and "zigzag-2" act alike near the diagonal: 0.938, and 96.6% of labels right.
TEST(Oracle, CeilingOfDiagonalIsBelowOne) { EXPECT_NEAR(ceiling("diagonal"), 0.938, 0.005); }
TEST(Oracle, CeilingOfTakeballIsOne) { EXPECT_GT(ceiling("takeball"), 0.99); }
TEST(Oracle, CeilingOfPermutedTakeballIsOne) { EXPECT_GT(ceiling("takeball-permuted"), 0.99); }

// One (state, action) pair fits two of the four policies.
TEST(Oracle, CeilingOfBanditIsLowUnlessEpisodesAreLong) {
  const auto reached = [](std::int64_t horizon) {
    const auto data = generate(Bandit({.horizon = horizon}), {.per_expert = 5000, .seed = 4});
    return normalized_mutual_information(data.oracle.span(), data.labels.span());
  };
  EXPECT_LT(reached(1), 0.5);
  EXPECT_GT(reached(12), 0.99);
}

TEST(Oracle, AddsLogProbabilities) {
  const Bandit environment({.horizon = 3});
  Trajectories data;
  data.offsets = std::vector<std::int64_t>{0, 3, 4};
  data.observations =
      Observations::interned(std::vector<float>{0.0f, 1.0f, 1.0f, 0.0f}, 2,  // states 1 and 0
                             std::vector<std::int32_t>{0, 1, 1, 0});
  data.actions = Actions::discrete(std::vector<std::int32_t>{0, 0, 1, 1}, 2);
  data.ids = {"a", "b"};
  const Policies policies = {
      std::make_shared<TabularPolicy>("soft", "", 2, std::vector{0.25f, 0.75f, 0.5f, 0.5f}),
      std::make_shared<TabularPolicy>("hard", "", 2, std::vector{1.0f, 0.0f, 0.0f, 1.0f})};
  const auto scores = log_likelihoods(data, environment, policies);
  EXPECT_NEAR(scores[0], std::log(0.5) + std::log(0.25) + std::log(0.75), 1e-12);
  EXPECT_EQ(scores[1], -std::numeric_limits<double>::infinity());
  EXPECT_NEAR(scores[2], std::log(0.5), 1e-12);
  EXPECT_EQ(scores[3], 0.0);
  EXPECT_THAT(oracle_labels(data, environment, policies), ::testing::ElementsAre(0, 1));
}

TEST(Oracle, RejectsDatasetsOfOtherEnvironments) {
  const Diagonal diagonal, larger({.size = 11});
  const auto experts = diagonal_experts(diagonal);
  const auto data = rollout(diagonal, experts, {.per_expert = 5, .seed = 5});
  EXPECT_THROW(log_likelihoods(data, larger, diagonal_experts(larger)), InvalidArgument);
  EXPECT_THROW(log_likelihoods(data, Bandit(), bandit_experts(Bandit())), InvalidArgument);

  auto foreign = data;
  std::vector<float> table(data.observations.table().begin(), data.observations.table().end());
  table[0] = 0.5f;
  foreign.observations =
      Observations::interned(std::move(table), data.observations.dim(), data.observations.index());
  EXPECT_THROW(log_likelihoods(foreign, diagonal, experts), InvalidArgument);
}

}  // namespace
}  // namespace kindred
