#include <gtest/gtest.h>

#include <limits>

#include "kindred/clustering/clustering.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

Clustering with_restarts(std::vector<std::pair<double, std::vector<std::int32_t>>> restarts) {
  Clustering clustering;
  clustering.objective = restarts.front().first;
  for (auto& [objective, labels] : restarts) {
    RestartSummary summary;
    summary.objective = objective;
    summary.labels = std::move(labels);
    clustering.restarts.push_back(std::move(summary));
  }
  return clustering;
}

TEST(Agreement, SaysWhetherTheAnswerIsUnique) {
  EXPECT_EQ(restart_agreement(with_restarts({{-100.0, {0, 0, 1, 1}}})).verdict, "single");
  EXPECT_EQ(
      restart_agreement(
          with_restarts({{-100.0, {0, 0, 1, 1}}, {-100.1, {1, 1, 0, 0}}, {-150.0, {0, 1, 0, 1}}}))
          .verdict,
      "unique");
  EXPECT_EQ(
      restart_agreement(with_restarts({{-100.0, {0, 0, 1, 1}}, {-100.1, {0, 1, 0, 1}}})).verdict,
      "several");
  EXPECT_EQ(
      restart_agreement(with_restarts({{-100.0, {0, 0, 1, 1}}, {-150.0, {0, 1, 0, 1}}})).verdict,
      "unstable");
}

/// Networks of the same groups end at different objectives: what counts is that the groups return.
TEST(Agreement, LabelsThatReturnAreUniqueWhateverTheirObjective) {
  const std::vector<std::int32_t> halves = {0, 0, 1, 1}, pairs = {0, 1, 0, 1};
  const auto most =
      restart_agreement(with_restarts({{-100.0, halves}, {-150.0, halves}, {-180.0, pairs}}));
  EXPECT_EQ(most.verdict, "unique");
  EXPECT_EQ(most.good, 1);
  EXPECT_EQ(most.same, 2);
  const auto half = restart_agreement(
      with_restarts({{-100.0, halves}, {-150.0, halves}, {-180.0, pairs}, {-190.0, pairs}}));
  EXPECT_EQ(half.verdict, "unstable");
}

/// Adam now and then leaves a perfect fit for one round; nothing is nearer to the best for that.
TEST(Agreement, ASpikeOfTheTraceMakesNothingGood) {
  auto clustering = with_restarts({{-100.0, {0, 0, 1, 1}}, {-150.0, {0, 1, 0, 1}}});
  clustering.trace = {{.restart = 0, .iteration = 1, .objective = -300.0, .sizes = {}},
                      {.restart = 1, .iteration = 1, .objective = -320.0, .sizes = {}},
                      {.restart = 0, .iteration = 2, .objective = -1e6, .sizes = {}}};
  EXPECT_EQ(restart_agreement(clustering).good, 1);
  EXPECT_EQ(restart_agreement(clustering).verdict, "unstable");
}

TEST(Agreement, OneUnluckyBeginningMakesNothingGood) {
  auto clustering =
      with_restarts({{-100.0, {0, 0, 1, 1}}, {-150.0, {0, 1, 0, 1}}, {-160.0, {0, 1, 1, 0}}});
  clustering.trace = {{.restart = 0, .iteration = 1, .objective = -300.0, .sizes = {}},
                      {.restart = 1, .iteration = 1, .objective = -1e6, .sizes = {}},
                      {.restart = 2, .iteration = 1, .objective = -310.0, .sizes = {}}};
  EXPECT_EQ(restart_agreement(clustering).good, 1);
}

/// DEC's pretraining has losses of another kind than the divergence its restarts end with.
TEST(Agreement, RoundsOfAnotherLossDoNotCount) {
  auto clustering = with_restarts({{-1.0, {0, 0, 1, 1}}, {-1.5, {0, 1, 0, 1}}});
  for (auto& restart : clustering.restarts) restart.objective_since = 2;
  for (std::int64_t r = 0; r < 2; ++r) {
    clustering.trace.push_back({.restart = r, .iteration = 1, .objective = -1e3, .sizes = {}});
    clustering.trace.push_back({.restart = r, .iteration = 2, .objective = -2.0, .sizes = {}});
  }
  EXPECT_EQ(restart_agreement(clustering).good, 1);
}

TEST(Agreement, ImpossibleAnswersAreComparedToo) {
  constexpr double kImpossible = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(
      restart_agreement(with_restarts({{kImpossible, {0, 0, 1, 1}}, {kImpossible, {1, 1, 0, 0}}}))
          .verdict,
      "unique");
}

TEST(Agreement, MarginsAreTheLeadOfTheLabelOverTheBestOther) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Matrix scores(4, 3);
  scores.values = {-1.0, -4.0, -2.5, -3.0,       -3.0,       -9.0,
                   -1.0, -4.0, -2.5, -kInfinity, -kInfinity, -1.0};
  const std::vector<std::int32_t> labels = {0, 0, 2, 0};  // the last two as after merging
  EXPECT_EQ(margins(scores, labels), (std::vector<double>{1.5, 0.0, -1.5, -kInfinity}));
  scores(3, 2) = -kInfinity;
  EXPECT_EQ(margins(scores, labels).back(), 0.0);
  EXPECT_EQ(margins(Matrix(1, 1), {{0}}), std::vector<double>{kInfinity});
}

TEST(Agreement, TheFirstOfEqualColumnsIsTheBest) {
  Matrix scores(2, 3);
  scores.values = {-1.0, -4.0, -2.5, -3.0, -3.0, -9.0};
  EXPECT_EQ(best_columns(scores), (std::vector<std::int32_t>{0, 0}));
}

/// The paper's bandit: {π1, π4} and {π2, π3} explain the same episodes, and neither is the truth.
TEST(Agreement, TheBanditHasSeveralAnswers) {
  const auto data = testing::gridworld("bandit", 200);
  pg_kmeans::Options options;
  options.k = 2;
  options.restarts = 20;
  options.policy = pg_kmeans::PolicyKind::kTabular;
  options.choose = pg_kmeans::Choose::kObjective;
  const auto agreement = restart_agreement(pg_kmeans::fit(data, options));
  EXPECT_EQ(agreement.verdict, "several");
  EXPECT_LT(agreement.least_nmi, 0.1);
}

}  // namespace
}  // namespace kindred
