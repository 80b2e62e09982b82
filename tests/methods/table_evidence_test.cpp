#include "kindred/methods/policy_search/evidence/table_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kindred/core/random.h"
#include "kindred/data/select.h"
#include "kindred/policies/centres.h"
#include "tests/clustering/synthetic.h"

namespace kindred::policy_search {
namespace {

std::vector<std::int32_t> drawn_labels(std::int64_t episodes, std::int64_t k, std::uint64_t seed) {
  Random random(seed, "labels");
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < episodes; ++i)
    labels.push_back(static_cast<std::int32_t>(
        i < k ? i : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(k)))));
  return labels;
}

TEST(TableEvidence, TheObjectiveRisesInEveryRound) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto data = testing::repeating_choices(60, 3, seed);
    const auto fit = TableEvidence(data, Workers(1)).fit(drawn_labels(60, 5, seed), {});
    EXPECT_TRUE(fit.converged);
    for (std::size_t r = 1; r < fit.rounds.size(); ++r) {
      EXPECT_GT(fit.rounds[r - 1].changed, 0);
      EXPECT_GT(fit.rounds[r].objective, fit.rounds[r - 1].objective) << "round " << r;
    }
  }
}

TEST(TableEvidence, TheClosestPairIsTheCheapestToJoin) {
  const auto data = testing::repeating_choices(60, 4, 1);
  const TableEvidence evidence(data, Workers(1));
  const auto labels = drawn_labels(60, 4, 2);
  double before = std::numeric_limits<double>::infinity();
  for (const auto& [a, b] : evidence.closest_pairs(labels, 4, 100)) {
    auto joined = labels;
    for (auto& label : joined)
      if (label == b) label = a;
    const double objective = evidence.fit(consecutive_labels(joined), {}).rounds.front().objective;
    EXPECT_LE(objective, before + 1e-9);
    before = objective;
  }
}

TEST(TableEvidence, NothingSurprisesButWhatTheTableWouldNotDo) {
  const auto data = testing::repeating_choices(400, 2, 7);
  const TableEvidence evidence(data, Workers(1));
  const std::vector<std::int32_t> labels(data.labels.begin(), data.labels.end());
  const auto fit = evidence.held_out_fit(labels, 2, {});
  ASSERT_EQ(fit.surprises.size(), 400U);
  double mean = 0.0, square = 0.0;
  for (const double surprise : fit.surprises) {
    mean += surprise / 400.0;
    square += surprise * surprise / 400.0;
  }
  EXPECT_NEAR(mean, 0.0, 0.2);
  EXPECT_NEAR(std::sqrt(square), 1.0, 0.2);

  const auto centres = evidence.centres(labels, 2, {});
  std::vector<std::int32_t> others;  // each under the policy that did not make it
  for (const auto label : labels) others.push_back(1 - label);
  const auto own = centres->surprises(data, labels, {});
  const auto strange = centres->surprises(data, others, {});
  std::int64_t more = 0;
  for (std::size_t i = 0; i < own.size(); ++i) more += strange[i] > own[i];
  EXPECT_GT(more, 380);
}

TEST(TableEvidence, ObservationsThatWereNeverSeenCountNeitherForNorAgainst) {
  const auto data = testing::repeating_choices(40, 1, 7);
  const std::vector<std::int32_t> labels(40, 0);
  const auto centres = TableEvidence(data, Workers(1)).centres(labels, 1, {});
  auto elsewhere = data;
  std::vector<float> table;
  for (int s = 0; s < 6; ++s) table.push_back(static_cast<float>(100 + s));
  elsewhere.observations = Observations::interned(Column<float>(std::move(table)), 1,
                                                  Column<std::int32_t>(data.observations.index()));
  for (const double surprise : centres->surprises(elsewhere, labels, {})) EXPECT_EQ(surprise, 0.0);
}

TEST(TableEvidence, LeavingAFoldOutIsFittingWithoutIt) {
  const auto data = testing::repeating_choices(30, 2, 3);  // few: every episode is a fold
  const TableEvidence evidence(data, Workers(1));
  const auto labels = drawn_labels(30, 2, 4);
  const auto score = evidence.score(labels, 2);
  for (std::int64_t left_out = 0; left_out < 30; ++left_out) {
    std::vector<std::int64_t> others;
    std::vector<std::int32_t> their_labels;
    for (std::int64_t i = 0; i < 30; ++i)
      if (i != left_out) {
        others.push_back(i);
        their_labels.push_back(labels[static_cast<std::size_t>(i)]);
      }
    const auto centres =
        TableEvidence(select_episodes(data, others), Workers(1)).centres(their_labels, 2, {});
    EXPECT_NEAR(centres->score(data, {})(left_out, labels[static_cast<std::size_t>(left_out)]),
                -score.errors[static_cast<std::size_t>(left_out)], 1e-9);
  }
}

TEST(TableEvidence, JoiningIsScoringTheJoinedPartition) {
  const auto data = testing::repeating_choices(80, 4, 5);
  const TableEvidence evidence(data, Workers(1));
  const auto labels = drawn_labels(80, 4, 6);
  auto joined = labels;
  for (auto& label : joined)
    if (label == 3) label = 1;
  EXPECT_NEAR(evidence.score_joined(evidence.score(labels, 4), labels, {1, 3}).v,
              evidence.score(joined, 3).v, 1e-12);
}

TEST(TableEvidence, NamesOfClustersAndOrderOfEpisodesDoNotMatter) {
  const auto data = testing::repeating_choices(80, 3, 7);
  const auto labels = drawn_labels(80, 3, 8);
  const double v = TableEvidence(data, Workers(1)).score(labels, 3).v;
  auto renamed = labels;
  for (auto& label : renamed) label = (label + 1) % 3;
  EXPECT_NEAR(TableEvidence(data, Workers(1)).score(renamed, 3).v, v, 1e-12);
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < 80; ++i) order.push_back(79 - i);
  const std::vector<std::int32_t> moved(labels.rbegin(), labels.rend());
  EXPECT_NEAR(TableEvidence(select_episodes(data, order), Workers(1)).score(moved, 3).v, v, 1e-12);
}

}  // namespace
}  // namespace kindred::policy_search
