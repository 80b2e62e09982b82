#include "kindred/methods/pg_kmeans/pg_kmeans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "kindred/core/error.h"
#include "kindred/methods/pg_kmeans/episode_regression.h"
#include "kindred/policies/centres.h"
#include "tests/methods/pg_kmeans_helpers.h"

namespace kindred::pg_kmeans {
namespace {

/// The theorem: with an exact M-step the objective rises strictly until the assignment repeats.
TEST(PgKmeans, ObjectiveRisesStrictlyWithExactPolicies) {
  const auto data = gridworld("diagonal", 300);
  for (std::int64_t seed = 0; seed < 5; ++seed) {
    Options options = by_objective();
    options.k = 5;
    options.restarts = 4;
    options.seed = seed;
    options.policy = PolicyKind::kTabular;
    options.log_prob_floor = Options::kNoFloor;
    options.change_tolerance = 0.0;
    options.max_rounds = 1000;
    const auto result = fit(data, options);
    std::vector<double> last(4, -std::numeric_limits<double>::infinity());
    for (const auto& entry : result.trace) {
      auto& before = last[static_cast<std::size_t>(entry.restart)];
      if (entry.changed > 0) {
        EXPECT_GT(entry.objective, before) << "seed " << seed << " restart " << entry.restart;
      } else {
        EXPECT_GE(entry.objective, before);
      }
      before = entry.objective;
    }
    for (const auto& restart : result.restarts) {
      EXPECT_TRUE(restart.converged);
      EXPECT_TRUE(std::isfinite(restart.objective));
    }
  }
}

TEST(PgKmeans, RecoversTheDiagonalExperts) {
  const auto data = gridworld("diagonal", 1000);
  for (const auto policy : {PolicyKind::kTabular, PolicyKind::kMlp}) {
    Options options = by_objective();
    options.k = 7;
    options.merge_to = 5;
    options.seed = 1;
    options.policy = policy;
    const auto result = fit(data, options);
    EXPECT_EQ(result.k(), 5);
    EXPECT_GE(nmi(result, data), 0.97 * ceiling(data)) << "policy " << static_cast<int>(policy);
  }
}

TEST(PgKmeans, RecoversContinuousControllers) {
  const auto data = linear_control({.episodes = 90, .policies = 3});
  for (const auto init : {Initialisation::kRandom, Initialisation::kEpisodeRegression}) {
    Options options = by_objective();
    options.k = 4;
    options.merge_to = 3;
    options.seed = 2;
    options.init = init;
    options.hidden = 32;
    options.batch_steps = 128;
    const auto result = fit(data, options);
    EXPECT_EQ(result.k(), 3);
    EXPECT_GE(nmi(result, data), 0.99) << "init " << static_cast<int>(init);
  }
}

TEST(PgKmeans, WholeTrajectoriesAsBatches) {
  const auto data = linear_control({.episodes = 40, .policies = 2});
  Options options = by_objective();
  options.k = 2;
  options.hidden = 32;
  options.batch_trajectories = 8;
  EXPECT_GE(nmi(fit(data, options), data), 0.99);
}

TEST(PgKmeans, DiscreteActionsWithObservationsThatDoNotRepeat) {
  const auto grid = gridworld("takeball", 60);
  const auto data = without_interning(grid);
  Options options = by_objective();
  options.k = 4;
  options.restarts = 2;
  options.max_rounds = 4;
  options.hidden = 32;
  options.max_steps = 60;
  const auto result = fit(data, options);
  // The centres score interned and dense observations alike: counting is exact.
  const auto dense = result.centres->score(data, {});
  const auto interned = result.centres->score(grid, {});
  for (std::size_t i = 0; i < dense.values.size(); ++i)
    ASSERT_NEAR(dense.values[i], interned.values[i], 1e-3);
}

TEST(PgKmeans, NumberOfThreadsDoesNotChangeTheResult) {
  const auto data = linear_control({.episodes = 20});
  Options options = by_objective();
  options.k = 3;
  options.hidden = 16;
  options.max_steps = 30;
  options.max_rounds = 3;
  RunContext one;
  one.pool = std::make_shared<ThreadPool>(1);
  RunContext three;
  three.pool = std::make_shared<ThreadPool>(3);
  EXPECT_EQ(fit(data, options, one).scores.values, fit(data, options, three).scores.values);
}

TEST(PgKmeans, MergingReportsTheObjectiveBeforeAndAfter) {
  const auto data = gridworld("takeball", 100);
  Options options = by_objective();
  options.k = 6;
  options.merge_to = 4;
  options.policy = PolicyKind::kTabular;
  options.refine = false;
  const auto result = fit(data, options);
  const auto& best = result.restarts[static_cast<std::size_t>(result.best_restart)];
  EXPECT_FALSE(best.merges.empty());
  EXPECT_LE(best.objective, best.objective_before_merge);
  EXPECT_DOUBLE_EQ(best.objective, best.merges.back().objective);
}

/// Where nothing was merged there is nothing to refine, and no objective before merging.
TEST(PgKmeans, RefinesOnlyWhatWasMerged) {
  const auto data = linear_control({.episodes = 40, .policies = 2});
  Options options = by_objective();
  options.k = 2;
  options.restarts = 2;
  options.hidden = 16;
  const auto refined = fit(data, options);
  for (const auto& restart : refined.restarts) {
    EXPECT_TRUE(restart.merges.empty());
    EXPECT_EQ(restart.objective_before_merge, restart.objective);
  }
  options.refine = false;
  const auto plain = fit(data, options);
  EXPECT_EQ(refined.iterations, plain.iterations);
  EXPECT_EQ(refined.scores.values, plain.scores.values);
}

TEST(PgKmeans, SaysHowManyRoundsThereCanBe) {
  const auto data = gridworld("takeball", 20);
  const auto most_rounds = [&](std::int64_t merge_to, bool refine) {
    Options options = by_objective();
    options.k = 4;
    options.merge_to = merge_to;
    options.refine = refine;
    options.max_rounds = 7;
    options.policy = PolicyKind::kTabular;
    std::int64_t most = 0;
    RunContext run;
    run.progress = [&](const Progress& progress) { most = progress.max_iterations; };
    fit(data, options, run);
    return most;
  };
  EXPECT_EQ(most_rounds(0, true), 7);
  EXPECT_EQ(most_rounds(2, false), 7);
  EXPECT_EQ(most_rounds(2, true), 14);
}

TEST(PgKmeans, FinalLabelsAreTheLikeliestPolicies) {
  const auto data = gridworld("diagonal", 200);
  Options options = by_objective();
  options.k = 6;
  options.merge_to = 5;
  options.policy = PolicyKind::kTabular;
  const auto result = fit(data, options);
  double objective = 0.0;
  for (std::int64_t i = 0; i < result.scores.rows; ++i) {
    const auto label = result.labels[static_cast<std::size_t>(i)];
    for (std::int64_t c = 0; c < result.k(); ++c)
      EXPECT_GE(result.scores(i, label), result.scores(i, c));
    objective += result.scores(i, label);
  }
  EXPECT_NEAR(objective, result.objective, 1e-6 * std::abs(objective));
}

/// What became of clusters that had been empty for two rounds, a round later.
struct Emptied {
  std::int64_t stayed_empty = 0;
  std::int64_t filled = 0;

  explicit Emptied(const Clustering& result) {
    std::map<std::int64_t, std::vector<std::vector<std::int64_t>>> sizes;  // by restart and round
    for (const auto& entry : result.trace) sizes[entry.restart].push_back(entry.sizes);
    for (const auto& [restart, rounds] : sizes)
      for (std::size_t t = 2; t < rounds.size(); ++t)
        for (std::size_t c = 0; c < rounds[t].size(); ++c)
          if (rounds[t - 2][c] == 0 && rounds[t - 1][c] == 0)
            ++(rounds[t][c] == 0 ? stayed_empty : filled);
  }
};

TEST(PgKmeans, EmptyClustersAreGivenUpOrReseeded) {
  // Two policies cannot fill eight clusters for long once labels settle.
  const auto data = linear_control({.episodes = 24, .length = 30, .policies = 2, .noise = 0.01});
  Options options;
  options.use_paper_setting();
  options.k = 8;
  options.restarts = 2;
  options.hidden = 16;
  options.max_rounds = 12;
  options.change_tolerance = 0.0;
  options.empty_cluster = EmptyCluster::kDrop;
  const Emptied dropped(fit(data, options));
  EXPECT_GT(dropped.stayed_empty, 0);
  EXPECT_EQ(dropped.filled, 0);
  options.empty_cluster = EmptyCluster::kReseed;
  EXPECT_GT(Emptied(fit(data, options)).filled, 0);
}

TEST(PgKmeans, EpisodeRegressionsSeparateLinearPolicies) {
  const auto data = linear_control({.episodes = 60, .policies = 4});
  Random random(1);
  EXPECT_GE(
      normalized_mutual_information(episode_regression_labels(data, 4, random), data.labels.span()),
      0.99);
}

TEST(PgKmeans, TablesRefuseAGpu) {
  Options options = by_objective();
  options.k = 2;
  options.policy = PolicyKind::kTabular;
  RunContext run;
  run.device = "cuda";
  try {
    fit(gridworld("diagonal", 4), options, run);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "policy 'tabular' runs on the CPU only; leave out --device cuda");
  }
}

TEST(PgKmeans, OptionsThatDoNotFitTheDataAreExplained) {
  const auto data = linear_control({.episodes = 5});
  const auto message = [&](auto change) -> std::string {
    Options options = by_objective();
    options.k = 2;
    change(options);
    try {
      fit(data, options);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](Options& o) { o.k = 6; }),
            "k is 6 but there are only 5 trajectories; choose a smaller k");
  EXPECT_EQ(message([](Options& o) { o.merge_to = 3; }),
            "merge-to is 3 but k is 2; merging can only lower the number");
  EXPECT_NE(message([](Options& o) { o.policy = PolicyKind::kTabular; }).find("use policy 'mlp'"),
            std::string::npos);
}

}  // namespace
}  // namespace kindred::pg_kmeans
