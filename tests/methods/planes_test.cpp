#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/methods/policy_search/evidence/plane_search.h"
#include "kindred/methods/policy_search/evidence/sparse_statistics.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/policies/error_forms.h"
#include "kindred/policies/plane_centres.h"
#include "tests/clustering/synthetic.h"
#include "tests/methods/boards.h"

namespace kindred::policy_search {
namespace {

using testing::boards;
using testing::kPlanes;
using testing::kSide;

TEST(PlaneView, RecognisesWhoActs) {
  for (const bool planes_last : {true, false}) {
    const auto data = boards(100, planes_last);
    const auto raw = PlaneView::raw(data);
    ASSERT_TRUE(raw);
    const auto view = raw->egocentric(data);
    ASSERT_TRUE(view);
    EXPECT_FALSE(raw->is_egocentric());
    EXPECT_TRUE(view->is_egocentric());
    // The constant, where the acting cell is, and two cells as seen from there.
    const auto rows = view->see(data.observations, {});
    for (std::int64_t t = 0; t < data.steps(); ++t) {
      ASSERT_EQ(rows.of(t).size(), 4);
      EXPECT_EQ(rows.of(t)[0], 0);
      EXPECT_LE(*std::ranges::max_element(rows.of(t)), view->columns() - 1);
    }
    EXPECT_GT(view->columns(), 2 * kSide * kSide);  // offsets reach farther than cells
  }
}

TEST(PlaneView, NeedsZerosAndOnesAndFewOfThem) {
  auto data = boards(20, true);
  EXPECT_FALSE(PlaneView::raw(testing::linear_control({})));
  std::vector<std::uint8_t> cells(data.observations.bytes().begin(),
                                  data.observations.bytes().end());
  cells[7] = 2;
  data.observations = Observations::dense(Column<std::uint8_t>(cells), kSide * kSide * kPlanes);
  EXPECT_FALSE(PlaneView::raw(data));
  Random random(1, "noise");
  for (auto& cell : cells) cell = random.below(2) == 1 ? 1 : 0;
  data.observations = Observations::dense(Column<std::uint8_t>(cells), kSide * kSide * kPlanes);
  EXPECT_FALSE(PlaneView::raw(data));
}

TEST(PlaneView, NobodyActsWhereCellsJump) {
  const auto data = boards(20, true);
  std::vector<std::uint8_t> cells(data.observations.bytes().begin(),
                                  data.observations.bytes().end());
  const auto dim = static_cast<std::size_t>(kSide * kSide * kPlanes);
  for (std::size_t cell = 0; cell < dim; cell += kPlanes) cells[5 * dim + cell] = 0;
  cells[5 * dim + (cells[4 * dim] != 0 ? dim - kPlanes : 0)] = 1;  // far from where it was
  auto jumping = data;
  jumping.observations =
      Observations::dense(Column<std::uint8_t>(cells), std::ssize(cells) / data.steps());
  const auto raw = PlaneView::raw(jumping);
  ASSERT_TRUE(raw);
  EXPECT_FALSE(raw->egocentric(jumping));
}

TEST(SparseStatistics, AreTheSumsOverSteps) {
  const auto data = boards(12, true);
  const auto view = *PlaneView::raw(data)->egocentric(data);
  const ActionTargets targets(data.actions);
  const SparseStatistics statistics(data, view, targets, Workers(1));
  const auto rows = view.see(data.observations, {});
  const auto& layout = statistics.layout();
  std::vector<std::int32_t> labels(12, -1);
  labels[3] = 1;
  const auto sums = statistics.cluster_sums(labels, 2);
  EXPECT_EQ(sums[static_cast<std::size_t>(layout.steps())], 0.0);
  const auto own = std::span(sums).subspan(static_cast<std::size_t>(layout.size()));
  EXPECT_EQ(own.back(), 10.0);
  std::vector<double> gram(static_cast<std::size_t>(layout.cross()), 0.0);
  std::vector<double> actions(static_cast<std::size_t>(10 * layout.targets));
  targets.copy(data.actions, 30, 40, actions);
  std::vector<double> weights(static_cast<std::size_t>(layout.features * layout.targets));
  Random random(3, "weights");
  for (auto& w : weights) w = random.normal();
  std::vector<double> expected(static_cast<std::size_t>(layout.targets), 0.0);
  for (std::int64_t t = 30; t < 40; ++t) {
    for (const std::int64_t a : rows.of(t))
      for (const std::int64_t b : rows.of(t))
        if (b <= a) ++gram[static_cast<std::size_t>(a * (a + 1) / 2 + b)];
    for (std::int64_t d = 0; d < layout.targets; ++d) {
      double missed = -actions[static_cast<std::size_t>((t - 30) * layout.targets + d)];
      for (const std::int64_t a : rows.of(t))
        missed += weights[static_cast<std::size_t>(a * layout.targets + d)];
      expected[static_cast<std::size_t>(d)] += missed * missed;
    }
  }
  EXPECT_THAT(own.first(gram.size()), ::testing::ElementsAreArray(gram));
  const auto errors = statistics.piece_errors(std::vector<std::int64_t>{3}, weights);
  const auto from_sums = ErrorForms::of_targets(layout, weights).errors(std::vector{own.data()});
  for (std::size_t d = 0; d < expected.size(); ++d) {
    EXPECT_NEAR(errors.values[d], expected[d], 1e-9);
    EXPECT_NEAR(from_sums.values[d], expected[d], 1e-9);
  }
  const auto part = statistics.subset(std::vector<std::int64_t>{3, 5});
  EXPECT_THAT(part->piece_errors(std::vector<std::int64_t>{0}, weights).values,
              ::testing::ElementsAreArray(errors.values));
  const std::vector<double> noise(expected.size(), 2.0);
  EXPECT_NEAR(part->episode_costs(weights, 1, noise)(0, 0),
              std::accumulate(expected.begin(), expected.end(), 0.0) / 2.0, 1e-9);
}

TEST(SparseNetwork, LearnsWhatNoLinearPolicyCan) {
  SparseRows rows;  // two ones or none: action 0; a single one: action 1
  rows.columns = 3;
  const std::vector<std::vector<std::int32_t>> cases = {{0}, {0, 1}, {0, 2}, {0, 1, 2}};
  const std::vector<std::int32_t> actions = {0, 1, 1, 0};
  for (const auto& ones : cases) {
    rows.ones.insert(rows.ones.end(), ones.begin(), ones.end());
    rows.begin.push_back(std::ssize(rows.ones));
  }
  SparseNetwork network(3, 2, Random(1, "network"));
  const std::vector<std::int64_t> steps = {0, 1, 2, 3};
  for (int i = 0; i < 1000; ++i) network.train(rows, actions, steps);
  std::vector<double> log_probs(2);
  for (std::size_t t = 0; t < cases.size(); ++t) {
    network.log_probs(cases[t], log_probs);
    EXPECT_GT(log_probs[static_cast<std::size_t>(actions[t])], std::log(0.9)) << t;
    EXPECT_NEAR(std::exp(log_probs[0]) + std::exp(log_probs[1]), 1.0, 1e-6);
  }
}

TEST(PlaneSearch, FindsWhoWalksWhere) {
  const auto data = boards(1000, true);
  const auto found = search_planes(data, {.starts = 2}, {});
  EXPECT_TRUE(found.view->is_egocentric());
  EXPECT_EQ(found.answer().k(), 2);
  EXPECT_GT(normalized_mutual_information(found.answer().labels, data.labels.span()), 0.7);
  EXPECT_GT(found.answer().v, found.answers.front().v);

  // New episodes are told apart as well.
  const auto others = boards(200, true, 2);
  const PlaneCentres centres(found.view, 4, found.answer().networks);
  EXPECT_GT(
      normalized_mutual_information(best_columns(centres.score(others, {})), others.labels.span()),
      0.7);
}

TEST(PlaneSearch, DoesNotDependOnTheNumberOfThreads) {
  const auto data = boards(200, false);
  RunContext one, three;
  one.pool = std::make_shared<ThreadPool>(1);
  three.pool = std::make_shared<ThreadPool>(3);
  const auto a = search_planes(data, {.k = 2, .starts = 2}, one);
  const auto b = search_planes(data, {.k = 2, .starts = 2}, three);
  EXPECT_EQ(a.answer().labels, b.answer().labels);
  EXPECT_EQ(a.answer().v, b.answer().v);
}

TEST(PlaneSearch, KeepsWhatIsKnown) {
  const auto data = boards(200, true);
  const Links links(200, std::vector<Links::Pair>{{0, 2}, {1, 3}},
                    std::vector<Links::Pair>{{0, 1}});
  const auto found = search_planes(data, {.starts = 2, .links = links}, {});
  EXPECT_GE(found.answer().k(), 2);
  EXPECT_TRUE(links.kept(found.answer().labels));
}

TEST(PlaneSearch, SaysWhatItCannotLookAt) {
  EXPECT_THROW(search_planes(testing::linear_control({}), {}, {}), InvalidArgument);
}

}  // namespace
}  // namespace kindred::policy_search
