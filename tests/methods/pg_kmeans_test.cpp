#include "kindred/methods/pg_kmeans/pg_kmeans.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/methods/pg_kmeans/episode_regression.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/policies/centres.h"
#include "tests/clustering/synthetic.h"

namespace kindred::pg_kmeans {
namespace {

using kindred::testing::gridworld;
using kindred::testing::linear_control;
using kindred::testing::without_interning;

double nmi(const Clustering& clustering, const Trajectories& data) {
  return normalized_mutual_information(clustering.labels, data.labels.span());
}

/// The paper's: rounds of policies, of which the best by J is taken.
Options by_objective() {
  Options options;
  options.choose = Choose::kObjective;
  return options;
}

double ceiling(const Trajectories& data) {
  return normalized_mutual_information(data.oracle.span(), data.labels.span());
}

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

/// The fused kernel and LibTorch's stack are two ways to the same policies.
TEST(PgKmeans, FusedAndStackedLearnersAgree) {
  const auto grid = gridworld("diagonal", 60);
  const auto control = linear_control({.episodes = 12, .length = 20});
  for (const auto& [data, share] :
       {std::pair{&grid, 0.0}, {&control, 0.0}, {&grid, 0.05}, {&control, 0.05}}) {
    Options options = by_objective();
    options.k = 2;
    options.restarts = 1;
    options.hidden = 24;
    options.max_steps = 40;
    options.plateau_steps = 100;  // the stack stops as one, the fused kernel policy by policy
    options.common_share = share;
    options.log_prob_floor = Options::kNoFloor;
    options = resolve(options, *data);
    std::vector<std::int32_t> labels;
    for (std::int64_t i = 0; i < data->episodes(); ++i)
      labels.push_back(static_cast<std::int32_t>(i % 2));
    const std::vector<std::int64_t> slots = {0, 1};
    const auto trained = [&](auto make) {
      const auto learner = make(*data, options, RunContext{});
      learner->fit(
          slots, [&](std::int64_t) { return std::span<const std::int32_t>(labels); }, 1);
      return learner->score(slots);
    };
    const auto fused = trained(make_network_learner);
    const auto stacked = trained(make_stack_learner);
    for (std::size_t i = 0; i < fused.values.size(); ++i)
      ASSERT_NEAR(fused.values[i], stacked.values[i], 0.02 * (1.0 + std::abs(stacked.values[i])))
          << (data == &grid ? "on counts" : "on batches") << ", share " << share;
  }
}

TEST(PgKmeans, LearnersComeBackFromWhatTheySaved) {
  const auto grid = gridworld("diagonal", 20);
  const auto control = linear_control({.episodes = 12, .length = 20});
  const std::vector<std::int64_t> slots = {0, 1};
  const auto path = std::filesystem::temp_directory_path() /
                    ("kindred-learner-" + std::to_string(::getpid()) + ".h5");
  for (const auto* data : {&grid, &control})
    for (const auto make : {make_network_learner, make_stack_learner}) {
      Options options = by_objective();
      options.k = 2;
      options.restarts = 1;
      options.hidden = 8;
      options.max_steps = 10;
      options = resolve(options, *data);
      const std::vector<std::int32_t> labels(static_cast<std::size_t>(data->episodes()), 0);
      const auto learner = make(*data, options, RunContext{});
      learner->fit(
          std::span(slots).first(1),
          [&](std::int64_t) { return std::span<const std::int32_t>(labels); }, 1);
      ArrayFileWriter writer(path);
      learner->save(writer);
      writer.close();
      const auto again = make(*data, options, RunContext{});
      again->load(ArrayFileReader(path));
      EXPECT_EQ(again->score(slots).values, learner->score(slots).values);
      const auto of_centres = again->centres(slots)->score(*data, {});
      const auto own = again->score(slots);
      for (std::size_t i = 0; i < own.values.size(); ++i)
        EXPECT_NEAR(of_centres.values[i], own.values[i], 1e-3 * (1.0 + std::abs(own.values[i])));
    }
  std::filesystem::remove(path);
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

TEST(PgKmeans, FloorBoundsEveryStep) {
  const auto data = gridworld("diagonal", 50);
  Options options = by_objective();
  options.k = 3;
  options.restarts = 1;
  options.policy = PolicyKind::kTabular;
  options.log_prob_floor = -2.0;
  const auto result = fit(data, options);
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (std::int64_t c = 0; c < result.k(); ++c)
      EXPECT_GE(result.scores(i, c), -2.0 * static_cast<double>(data.length(i)));
}

/// The same trajectories with their actions in other units: scale[d] · action + shift.
Trajectories in_units(Trajectories data, const std::vector<float>& scale, float shift = 0.0F) {
  std::vector<float> actions(data.actions.floats().begin(), data.actions.floats().end());
  for (std::size_t i = 0; i < actions.size(); ++i)
    actions[i] = scale[i % scale.size()] * actions[i] + shift;
  data.actions = Actions::continuous(Column<float>(std::move(actions)), data.actions.dim());
  return data;
}

Options small_networks() {
  Options options = by_objective();
  options.k = 3;
  options.restarts = 2;
  options.seed = 2;
  options.hidden = 32;
  options.batch_steps = 128;
  return options;
}

/// Powers of two change no bit of what networks see; other units round differently.
TEST(PgKmeans, LabelsDoNotDependOnTheUnitsOfActions) {
  const auto data = linear_control({.episodes = 60, .policies = 3});
  const auto options = small_networks();
  const auto result = fit(data, options);
  EXPECT_GE(nmi(result, data), 0.99);
  const std::vector<std::vector<float>> exact = {
      {0x1p-10F, 0x1p-10F}, {0x1p14F, 0x1p14F}, {0x1p-10F, 0x1p14F}};
  for (const auto& scale : exact)
    EXPECT_EQ(fit(in_units(data, scale), options).scores.values, result.scores.values);
  for (const float scale : {1e-3F, 1e4F})
    EXPECT_EQ(fit(in_units(data, {scale, 1.0F}, 3.0F * scale), options).labels, result.labels);
}

TEST(PgKmeans, CentresActInTheUnitsOfTheData) {
  const auto data = linear_control({.episodes = 30, .policies = 3});
  const auto options = small_networks();
  const auto acted = [&](const Trajectories& from) {
    const auto result = fit(from, options);
    std::vector<float> rows(20 * 3), out(20 * 2 * 2);
    from.observations.copy(0, 20, rows.data());
    std::dynamic_pointer_cast<const PolicyCentres>(result.centres)->distribution(0, rows, out);
    return out;
  };
  auto expected = acted(data);
  for (auto& number : expected) number *= 0x1p14F;
  EXPECT_EQ(acted(in_units(data, {0x1p14F})), expected);
}

/// No network has to learn that an action is always the same, and none is preferred for it.
TEST(PgKmeans, NumbersOfAnActionThatNeverVaryDoNotCount) {
  const auto data = linear_control({.episodes = 30, .policies = 3});
  auto padded = data;
  std::vector<float> actions;
  for (std::int64_t t = 0; t < data.steps(); ++t)
    for (const float number :
         {data.actions.floats()[2 * t], 1e6F, data.actions.floats()[2 * t + 1]})
      actions.push_back(number);
  padded.actions = Actions::continuous(Column<float>(std::move(actions)), 3);
  const auto options = small_networks();
  const auto result = fit(padded, options);
  EXPECT_EQ(result.scores.values, fit(data, options).scores.values);
  EXPECT_EQ(result.centres->score(padded, {}).values, result.scores.values);
  std::vector<float> row(3), out(2 * 3);
  padded.observations.copy(0, 1, row.data());
  std::dynamic_pointer_cast<const PolicyCentres>(result.centres)->distribution(0, row, out);
  EXPECT_EQ(out[1], 1e6F);
  EXPECT_EQ(out[4], 0.0F);
}

/// An action of 24 noisy numbers has a density of e^-30 or less under every policy: a floor of -5
/// ties them all, and labels stay where the random start put them.
TEST(PgKmeans, TellsNoisyPoliciesApartWhereAFloorTies) {
  const auto data =
      linear_control({.episodes = 40, .length = 60, .act_dim = 24, .policies = 2, .noise = 1.0});
  Options options = small_networks();
  options.k = 2;
  EXPECT_GE(nmi(fit(data, options), data), 0.99);
  options.use_paper_setting();
  const auto tied = fit(data, options);
  for (const auto& entry : tied.trace) EXPECT_EQ(entry.changed, 0);
  for (const auto& restart : tied.restarts) EXPECT_TRUE(restart.converged);
  EXPECT_LT(nmi(tied, data), 0.2);
}

TEST(PgKmeans, OneStepIsBoundedByTheShareOrByTheFloor) {
  const auto data = linear_control({.episodes = 10});
  const auto bound = [&](double share, double floor) {
    Options options = by_objective();
    options.k = 2;
    options.common_share = share;
    options.log_prob_floor = floor;
    options = resolve(options, data);
    return std::pair{options.common_share, options.log_prob_floor};
  };
  using Bound = std::pair<double, double>;
  const auto kAutoShare = Options::kAutoShare, kAutoFloor = Options::kAutoFloor;
  EXPECT_EQ(bound(kAutoShare, kAutoFloor), Bound(0.05, Options::kNoFloor));
  EXPECT_EQ(bound(0.1, kAutoFloor), Bound(0.1, Options::kNoFloor));
  EXPECT_EQ(bound(0.0, kAutoFloor), Bound(0.0, -5.0));
  EXPECT_EQ(bound(kAutoShare, -3.0), Bound(0.0, -3.0));
  EXPECT_EQ(bound(kAutoShare, Options::kNoFloor), Bound(0.0, Options::kNoFloor));
  EXPECT_EQ(bound(0.1, -3.0), Bound(0.1, -3.0));
  Options tables = by_objective();
  tables.k = 2;
  tables.policy = PolicyKind::kTabular;
  const auto grid = gridworld("diagonal", 4);
  EXPECT_EQ(resolve(tables, grid).log_prob_floor, -5.0);
  tables.common_share = 0.1;
  EXPECT_THROW(resolve(tables, grid), InvalidArgument);
}

TEST(PgKmeans, ThePapersSettingIsOneName) {
  Options options;
  options.k = 3;
  options.seed = 9;
  options.use_paper_setting();
  options = resolve(options, linear_control({.episodes = 10}));
  EXPECT_EQ(options.policy, PolicyKind::kMlp);
  EXPECT_EQ(options.choose, Choose::kObjective);
  EXPECT_EQ(options.restarts, 5);
  EXPECT_EQ(options.log_prob_floor, -5.0);
  EXPECT_EQ(options.common_share, 0.0);
  EXPECT_FALSE(options.standardize_actions);
  EXPECT_EQ(options.k, 3);
  EXPECT_EQ(options.seed, 9);
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

TEST(PgKmeans, FindsTheExpertsOfGridworldsUnaided) {
  for (const auto& [name, experts] : {std::pair{"diagonal", 5}, std::pair{"takeball", 4}}) {
    const auto data = gridworld(name, 1200);  // of which a sample is searched
    const auto result = fit(data, {});
    EXPECT_EQ(result.k(), experts) << name;
    EXPECT_LT(result.searched, data.episodes());
    EXPECT_GE(normalized_mutual_information(result.labels, data.labels.span()),
              0.98 * ceiling(data))
        << name;
    EXPECT_EQ(restart_agreement(result).verdict, "unique") << name;
  }
}

TEST(PgKmeans, SaysThatSeveralAnswersAreAsGood) {
  const auto data = gridworld("bandit", 50);
  const auto result = fit(data, {});
  // An episode is one step: two policies predict no better than one that does either.
  EXPECT_EQ(result.k(), 1);
  EXPECT_EQ(restart_agreement(result).verdict, "several");
  ASSERT_EQ(result.alternatives.size(), 2u);  // by either pairing of the two states
  for (const auto& other : result.alternatives)
    EXPECT_EQ(std::ssize(other.labels), data.episodes());
  EXPECT_LT(
      normalized_mutual_information(result.alternatives[0].labels, result.alternatives[1].labels),
      0.1);
}

TEST(PgKmeans, TrainsNetworksWhereObservationsAreWideAndTheNumberIsGiven) {
  Options options;
  options.k = 2;
  const auto wide = linear_control({.episodes = 10, .length = 20, .obs_dim = 300});
  EXPECT_EQ(resolve(options, wide).policy, PolicyKind::kMlp);
  EXPECT_EQ(resolve(options, linear_control({.episodes = 10})).policy, PolicyKind::kFeatures);
  EXPECT_EQ(resolve(options, gridworld("diagonal", 3)).policy, PolicyKind::kTabular);
  options.k = 0;
  EXPECT_THROW(resolve(options, wide), InvalidArgument);
  options.policy = PolicyKind::kFeatures;
  EXPECT_TRUE(resolve(options, wide).searches());
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

/// A file of what is known, gone with the test.
class SeedsFile {
 public:
  explicit SeedsFile(const std::string& text)
      : path_(std::filesystem::path(::testing::TempDir()) /
              fmt::format("seeds-{}.csv", ::testing::UnitTest::GetInstance()->random_seed())) {
    write_text(path_, text);
  }
  ~SeedsFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(PgKmeans, SeedsKeepTheirNumbers) {
  const auto data = linear_control({.episodes = 30, .policies = 3});
  // Episodes 0, 1 and 2 are of three policies, in whatever order the search would find them.
  const SeedsFile seeds("episode,label\n0,2\n1,0\n2,1\n3,2\n");
  Options options;
  options.seeds = seeds.path();
  const auto result = fit(data, options);
  ASSERT_EQ(result.k(), 3);
  for (std::size_t i = 0; i < 30; ++i)
    EXPECT_EQ(result.labels[i], std::vector<std::int32_t>({2, 0, 1})[i % 3]) << i;
  EXPECT_EQ(best_columns(result.scores), result.labels);
}

TEST(PgKmeans, SeedsAreKeptAgainstTheEvidence) {
  const auto data = linear_control({.episodes = 30, .policies = 2});
  const SeedsFile seeds("episode,other,link\n0,2,apart\n4,1,together\n");
  Options options;
  options.seeds = seeds.path();
  const auto result = fit(data, options);
  EXPECT_NE(result.labels[0], result.labels[2]);
  EXPECT_EQ(result.labels[4], result.labels[1]);
}

TEST(PgKmeans, SeedsThatCannotBeKeptAreRefused) {
  const auto data = linear_control({.episodes = 30, .policies = 2});
  const auto refused = [&](const std::string& text, std::int64_t k = 0,
                           Choose choose = Choose::kAuto) {
    const SeedsFile seeds(text);
    Options options;
    options.k = k;
    options.choose = choose;
    options.seeds = seeds.path();
    EXPECT_THROW(fit(data, options), Error) << text;
  };
  refused("episode,label\n0,0\n1,1\n2,2\n", 2);
  refused("episode,label\n0,0\n0,1\n");
  refused("episode,label\n99,0\n");
  refused("episode,other,link\n0,1,together\n1,0,apart\n");
  refused("episode,other,link\n0,1,near\n");
  refused("episode,name\n0,1\n");
  refused("episode,label\n0,0\n", 2, Choose::kObjective);
}

/// Extra's observations are too wide for statistics of features; its planes are looked at instead.
TEST(PgKmeans, FindsPoliciesOnPlanes) {
  const auto data = gridworld("extra", 400);
  Options options;
  options.k = 2;
  options.restarts = 2;
  const auto result = fit(data, options);
  EXPECT_EQ(result.options.at("policy"), "mlp");
  EXPECT_EQ(result.options.at("choose"), "held-out");
  ASSERT_TRUE(result.judgement);
  EXPECT_GE(result.judgement->v, result.judgement->v_of_one);
  EXPECT_GT(nmi(result, data), 0.2);
}

}  // namespace
}  // namespace kindred::pg_kmeans
