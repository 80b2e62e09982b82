#include "kindred/metrics/clustering_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/random.h"

namespace kindred {
namespace {

using LabelList = std::vector<std::int32_t>;

LabelList random_labels(Random& random, std::size_t items, std::uint64_t clusters) {
  LabelList labels(items);
  for (auto& label : labels) label = static_cast<std::int32_t>(random.below(clusters));
  return labels;
}

/// The same partition under other names, some of them negative.
LabelList renamed(Random& random, const LabelList& labels) {
  LabelList names(static_cast<std::size_t>(std::ranges::max(labels)) + 1);
  std::iota(names.begin(), names.end(), -3);
  random.shuffle(std::span(names));
  LabelList result;
  for (const auto label : labels) result.push_back(names[static_cast<std::size_t>(label)]);
  return result;
}

TEST(ClusteringScores, AgreeWithScikitLearn) {
  std::ifstream file(KINDRED_FIXTURES "/clustering_scores.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 25u);
  for (const auto& example : cases) {
    SCOPED_TRACE(example["name"].get<std::string>());
    const auto predicted = example["predicted"].get<LabelList>();
    const auto truth = example["truth"].get<LabelList>();
    const auto expect_close = [&](double found, const char* score) {
      const double expected = example["scores"][score].get<double>();
      EXPECT_NEAR(found, expected, 1e-12 * std::max(1.0, std::abs(expected))) << score;
    };
    expect_close(normalized_mutual_information(predicted, truth), "nmi");
    expect_close(adjusted_rand_index(predicted, truth), "ari");
    // scikit-learn takes expected counts from logarithms of factorials, which costs it digits.
    EXPECT_NEAR(adjusted_mutual_information(predicted, truth), example["scores"]["ami"], 1e-9);
    EXPECT_NEAR(chance_nmi(predicted, truth), example["scores"]["chance_nmi"], 1e-9);
    expect_close(matched_accuracy(predicted, truth), "accuracy");
    expect_close(purity(predicted, truth), "purity");
    expect_close(homogeneity(predicted, truth), "homogeneity");
    expect_close(completeness(predicted, truth), "completeness");
  }
}

TEST(ClusteringScores, AllAtOnceEqualsOneByOne) {
  Random random(2, "scores");
  const auto a = random_labels(random, 300, 7), b = random_labels(random, 300, 4);
  const auto scores = score_clustering(a, b);
  EXPECT_EQ(scores.nmi, normalized_mutual_information(a, b));
  EXPECT_EQ(scores.ari, adjusted_rand_index(a, b));
  EXPECT_EQ(scores.ami, adjusted_mutual_information(a, b));
  EXPECT_EQ(scores.chance_nmi, chance_nmi(a, b));
  EXPECT_EQ(scores.accuracy, matched_accuracy(a, b));
  EXPECT_EQ(scores.purity, purity(a, b));
  EXPECT_EQ(scores.homogeneity, homogeneity(a, b));
  EXPECT_EQ(scores.completeness, completeness(a, b));
}

TEST(ClusteringScores, TrueLabelsAreCalledAsTheClustersTheyMatch) {
  const LabelList predicted = {7, 7, 3, 3, 3, 7}, truth = {0, 0, 1, 1, 2, 0};
  EXPECT_THAT(matched_truth(predicted, truth), ::testing::ElementsAre(7, 7, 3, 3, -1, 7));
}

TEST(ClusteringScores, AreSymmetricAndBlindToNamesToTheLastBit) {
  Random random(3, "scores");
  for (int trial = 0; trial < 50; ++trial) {
    const auto a = random_labels(random, 1 + random.below(400), 1 + random.below(20));
    const auto b = random_labels(random, a.size(), 1 + random.below(20));
    const auto scores = score_clustering(a, b);
    const auto swapped = score_clustering(b, a);
    EXPECT_EQ(scores.nmi, swapped.nmi);
    EXPECT_EQ(scores.ari, swapped.ari);
    EXPECT_EQ(scores.ami, swapped.ami);
    EXPECT_EQ(scores.chance_nmi, swapped.chance_nmi);
    EXPECT_EQ(scores.accuracy, swapped.accuracy);
    EXPECT_EQ(scores.homogeneity, swapped.completeness);

    const auto other_names = score_clustering(renamed(random, a), renamed(random, b));
    EXPECT_EQ(scores.nmi, other_names.nmi);
    EXPECT_EQ(scores.ari, other_names.ari);
    EXPECT_EQ(scores.accuracy, other_names.accuracy);
    EXPECT_EQ(scores.purity, other_names.purity);
    EXPECT_EQ(scores.homogeneity, other_names.homogeneity);
    EXPECT_EQ(scores.completeness, other_names.completeness);
  }
}

TEST(ClusteringScores, OfAPartitionWithItselfAreExactlyOne) {
  Random random(4, "scores");
  for (const std::uint64_t clusters : {1u, 2u, 9u, 500u}) {
    const auto a = random_labels(random, 1000, clusters);
    const auto scores = score_clustering(renamed(random, a), a);
    for (const double score : {scores.nmi, scores.ari, scores.accuracy, scores.purity,
                               scores.homogeneity, scores.completeness, scores.ami})
      EXPECT_EQ(score, 1.0);
  }
}

TEST(ClusteringScores, OfFewItemsInManyGroupsAreFarFromNoneByChance) {
  Random random(6, "scores");
  LabelList a(37), b(37);  // eight groups of four or five
  for (std::size_t i = 0; i < 37; ++i) a[i] = b[i] = static_cast<std::int32_t>(i % 8);
  EXPECT_NEAR(chance_nmi(a, b), 0.38, 0.01);
  double nmi = 0.0, ami = 0.0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    random.shuffle(std::span(b));
    const auto scores = score_clustering(a, b);
    nmi += scores.nmi / kTrials;
    ami += scores.ami / kTrials;
  }
  EXPECT_NEAR(nmi, chance_nmi(a, b), 0.005);
  EXPECT_NEAR(ami, 0.0, 0.01);
}

TEST(ClusteringScores, OfNothingAreOne) {
  const auto scores = score_clustering({}, {});
  for (const double score : {scores.nmi, scores.ari, scores.accuracy, scores.purity,
                             scores.homogeneity, scores.completeness, scores.ami})
    EXPECT_EQ(score, 1.0);
}

TEST(ClusteringScores, RefuseListsOfDifferentLengths) {
  const LabelList two = {0, 1}, three = {0, 1, 1};
  for (const auto& score :
       {normalized_mutual_information, adjusted_mutual_information, chance_nmi, adjusted_rand_index,
        matched_accuracy, purity, homogeneity, completeness})
    EXPECT_THROW(score(two, three), InvalidArgument);
  try {
    score_clustering(two, three);
    FAIL() << "expected an error";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("2 predicted labels with 3 true labels"));
  }
}

TEST(ClusteringScores, HandleManyItemsAndManyClusters) {
  Random random(5, "scores");
  const auto truth = random_labels(random, 100'000, 3'000);
  auto predicted = truth;
  for (auto& label : predicted)
    if (random.uniform() < 0.5) label = static_cast<std::int32_t>(random.below(3'000));
  const auto scores = score_clustering(predicted, truth);
  EXPECT_NEAR(scores.accuracy, 0.5, 0.02);
  EXPECT_GT(scores.nmi, 0.5);

  LabelList singletons(100'000);
  std::iota(singletons.begin(), singletons.end(), -50'000);
  EXPECT_NEAR(score_clustering(singletons, truth).ami, 0.0, 1e-6);
  EXPECT_EQ(matched_accuracy(singletons, singletons), 1.0);
  EXPECT_EQ(matched_accuracy(singletons, truth), 3'000 / 100'000.0);
}

}  // namespace
}  // namespace kindred
