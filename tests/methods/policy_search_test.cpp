
#include "kindred/methods/policy_search/policy_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kindred/core/random.h"
#include "kindred/methods/method.h"
#include "kindred/methods/policy_search/conflicts/feature_metric.h"
#include "kindred/methods/policy_search/conflicts/like_states.h"
#include "kindred/methods/policy_search/conflicts/over_episodes.h"
#include "kindred/methods/policy_search/conflicts/policy_conflicts.h"
#include "kindred/methods/policy_search/evidence/learned_features.h"
#include "kindred/methods/policy_search/evidence/screening.h"
#include "kindred/methods/policy_search/sight.h"
#include "kindred/methods/policy_search/views.h"
#include "kindred/metrics/clustering_scores.h"
#include "tests/clustering/synthetic.h"

namespace kindred::policy_search {
namespace {

using kindred::testing::linear_control;

RunContext with_threads(int threads) {
  RunContext run;
  run.pool = std::make_shared<ThreadPool>(threads);
  return run;
}

/// Episodes of a point that is driven to the origin, by gain `gains[label]` with noise of deviation
/// `noise[label]`, started about `starts[label]`.
Trajectories points(std::int64_t episodes, const std::vector<double>& gains,
                    const std::vector<double>& noise, const std::vector<double>& starts,
                    std::uint64_t seed) {
  constexpr int kSteps = 60;
  Random random(seed, "points");
  std::vector<float> seen, done;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> labels;
  Trajectories data;
  for (std::int64_t i = 0; i < episodes; ++i) {
    const auto label = static_cast<std::size_t>(i) % gains.size();
    double x = starts[label] + random.normal(), y = random.normal();
    for (int t = 0; t < kSteps; ++t) {
      const double a = -gains[label] * x + noise[label] * random.normal();
      const double b = -gains[label] * y + noise[label] * random.normal();
      seen.insert(seen.end(), {static_cast<float>(x), static_cast<float>(y)});
      done.insert(done.end(), {static_cast<float>(a), static_cast<float>(b)});
      x += 0.1 * a + 0.05 * random.normal();
      y += 0.1 * b + 0.05 * random.normal();
    }
    offsets.push_back(offsets.back() + kSteps);
    labels.push_back(static_cast<std::int32_t>(label));
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = Column<std::int64_t>(std::move(offsets));
  data.observations = Observations::dense(Column<float>(std::move(seen)), 2);
  data.actions = Actions::continuous(Column<float>(std::move(done)), 2);
  data.labels = Column<std::int32_t>(std::move(labels));
  return data;
}

double nmi(const Clustering& found, const Trajectories& data) {
  return normalized_mutual_information(found.labels, data.labels.span());
}

/// One policy for everything and a ruler for states, as the search makes them.
struct Seen {
  explicit Seen(const Trajectories& data)
      : targets(std::make_shared<ActionTargets>(data.actions)),
        map(FeatureMap(data.observations, 0)
                .with_metric(
                    learn_metric(data, FeatureMap(data.observations, 0), *targets, workers).factor,
                    20)),
        evidence(data, map, targets, 10.0, workers, "cpu", *one_process(), 30.0),
        folds(draw_folds(data.ids, kCommonFolds, 1).front()),
        common(map, targets->count(), folds,
               evidence.statistics().cluster_sums(folds, kCommonFolds), std::array{10.0}),
        halves(data) {}

  Workers workers{2};
  std::shared_ptr<ActionTargets> targets;
  FeatureMap map;
  FeatureEvidence evidence;
  std::vector<std::int32_t> folds;
  CommonPolicy common;
  StepHalves halves;
};

TEST(PolicySearch, FindsHowManyPoliciesThereAre) {
  for (const std::int64_t policies : {1, 2, 4}) {
    const auto data =
        linear_control({.episodes = 12 * policies, .obs_dim = 4, .policies = policies}, 1);
    const auto found = fit(data, {}, with_threads(2));
    EXPECT_EQ(found.method, "policy-search");
    EXPECT_EQ(found.k(), policies);
    ASSERT_TRUE(found.count.has_value());
    EXPECT_EQ(std::ssize(found.count->pairs), policies * (policies - 1) / 2);
    EXPECT_LE(found.count->least, found.k());
    EXPECT_GE(found.count->most, found.k());
    EXPECT_GT(nmi(found, data), 1.0 - 1e-9) << policies << " policies";
  }
}

TEST(PolicySearch, GivesTheSameLabelsWithAnyNumberOfThreads) {
  const auto data = linear_control({.episodes = 30, .obs_dim = 3, .policies = 3}, 2);
  const auto one = fit(data, {}, with_threads(1));
  const auto three = fit(data, {}, with_threads(3));
  EXPECT_EQ(one.labels, three.labels);
  EXPECT_EQ(one.scores.values, three.scores.values);
  ASSERT_EQ(one.count->pairs.size(), three.count->pairs.size());
  for (std::size_t i = 0; i < one.count->pairs.size(); ++i)
    EXPECT_EQ(one.count->pairs[i].z, three.count->pairs[i].z);
}

TEST(PolicySearch, GivesAsManyAsAsked) {
  const auto data = linear_control({.episodes = 24, .obs_dim = 3, .policies = 2}, 3);
  for (const std::int64_t k : {1, 2}) {
    Options options;
    options.k = k;
    options.restarts = 8;
    const auto found = fit(data, options, with_threads(2));
    EXPECT_EQ(found.k(), k);
    EXPECT_FALSE(found.k_found);
  }
}

TEST(PolicySearch, TellsPoliciesApartThatDifferInTheirNoiseAlone) {
  const auto data = points(80, {1.0, 1.0}, {0.1, 0.4}, {0.0, 0.0}, 4);
  const auto found = fit(data, {}, with_threads(2));
  ASSERT_EQ(found.k(), 2);
  EXPECT_GT(nmi(found, data), 0.9);
  EXPECT_EQ(found.count->view, name_of(View::kNoise));
  EXPECT_EQ(found.count->least, 1);
  EXPECT_FALSE(found.count->sure);
}

/// What conflicts say of the true labels, as if either half of the steps had led to them.
PartitionVerdict verdict_on_truth(const Trajectories& data, std::int64_t k = 2) {
  const Seen seen(data);
  const std::vector<std::int32_t> truth(data.labels.begin(), data.labels.end());
  const auto policies = std::dynamic_pointer_cast<const ExactCentres>(
      seen.evidence.centres(truth, k, seen.evidence.score(truth, k)));
  const Rules rules;
  return in_near_states({data, seen.map, data, seen.common}, data, seen.halves, rules, seen.workers)
      ->judge({.k = k, .labels = {truth, truth}, .policies = {policies, policies}});
}

EpisodeEffect effect_in(const Trajectories& data) {
  const Seen seen(data);
  const Rules rules;
  return in_near_states({data, seen.map, data, seen.common}, data, seen.halves, rules, seen.workers)
      ->episode_effect();
}

TEST(PolicyConflicts, FindWhatActsDifferentlyInLikeStates) {
  const auto verdict = verdict_on_truth(points(60, {1.0, 2.0}, {0.1, 0.1}, {0.0, 0.0}, 5));
  const auto& pair = verdict.pairs.front();
  EXPECT_EQ(pair.relation, Relation::kDifferent);
  EXPECT_GT(pair.z, 5.0);
  EXPECT_GT(pair.foretold, 5.0);
  EXPECT_GT(pair.met, 0.3);
  EXPECT_GE(pair.example[0], 0);
  EXPECT_GT(verdict.z, 5.0);
}

TEST(PolicyConflicts, FindNothingBetweenHalvesOfOnePolicy) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto verdict = verdict_on_truth(points(60, {1.0, 1.0}, {0.2, 0.2}, {0.0, 0.0}, seed));
    EXPECT_NE(verdict.pairs.front().relation, Relation::kDifferent) << "seed " << seed;
    EXPECT_LT(std::abs(verdict.z), 4.0) << "seed " << seed;
  }
}

TEST(PolicyConflicts, DifferentNoiseIsNoConflict) {
  const auto verdict = verdict_on_truth(points(60, {1.0, 1.0}, {0.1, 0.5}, {0.0, 0.0}, 6));
  EXPECT_NE(verdict.pairs.front().relation, Relation::kDifferent);
  EXPECT_LT(verdict.z, 4.0);
}

TEST(PolicyConflicts, SayNothingOfGroupsThatNeverMet) {
  const auto verdict = verdict_on_truth(points(60, {0.0, 0.0}, {0.05, 0.05}, {-200.0, 200.0}, 7));
  EXPECT_EQ(verdict.pairs.front().relation, Relation::kNeverMet);
  EXPECT_EQ(verdict.z, 0.0);
}

TEST(PolicyConflicts, TellTheWholeWhereNoPairIsDecided) {
  // Four policies of six episodes each.
  const auto data = points(24, {0.5, 1.5, 2.5, 3.5}, std::vector(4, 0.15), std::vector(4, 0.0), 11);
  const auto verdict = verdict_on_truth(data, 4);
  for (const auto& pair : verdict.pairs) {
    EXPECT_NE(pair.relation, Relation::kDifferent);
    EXPECT_GT(verdict.z, pair.z + 0.5);
  }
}

TEST(PolicyConflicts, DoNotHideAGroupThatIsNoPolicy) {
  // Two policies that differ much, and a group that is half of the second one.
  auto data = points(60, {1.0, 3.0}, {0.1, 0.1}, {0.0, 0.0}, 16);
  std::vector<std::int32_t> labels(data.labels.begin(), data.labels.end());
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == 1 && i % 4 == 1) labels[i] = 2;
  ASSERT_EQ(std::ranges::max(labels), 2);
  data.labels = Column<std::int32_t>(std::move(labels));
  const auto verdict = verdict_on_truth(data, 3);
  EXPECT_EQ(verdict.pairs[0].relation, Relation::kDifferent);
  EXPECT_NE(verdict.pairs[2].relation, Relation::kDifferent);
  EXPECT_FALSE(Rules{}.conflict(verdict.z, verdict.foretold));
}

TEST(PolicyConflicts, AGroupOfTwoEpisodesIsNotJudged) {
  auto data = points(20, {1.0, 2.0}, {0.1, 0.1}, {0.0, 0.0}, 12);
  std::vector<std::int32_t> labels(20, 0);
  labels[1] = labels[3] = 1;
  data.labels = Column<std::int32_t>(std::move(labels));
  const auto verdict = verdict_on_truth(data);
  EXPECT_EQ(verdict.z, 0.0);
  EXPECT_EQ(verdict.pairs.front().relation, Relation::kNeverMet);
}

TEST(EpisodeEffect, IsThereWhereEveryEpisodeHasAPolicyOfItsOwn) {
  std::vector<double> gains;
  for (int i = 0; i < 30; ++i) gains.push_back(0.5 + 0.1 * i);
  const std::vector<double> noise(30, 0.1), starts(30, 0.0);
  const auto effect = effect_in(points(30, gains, noise, starts, 13));
  EXPECT_TRUE(effect.known);
  EXPECT_GT(effect.z, 4.0);
  EXPECT_GT(effect.share, 0.1);
}

TEST(EpisodeEffect, IsNotThereForOnePolicy) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto effect = effect_in(points(40, {1.0}, {0.2}, {0.0}, seed));
    EXPECT_TRUE(effect.known);
    EXPECT_LT(std::abs(effect.z), 3.0) << "seed " << seed;
    EXPECT_GT(effect.met, 0.1);
  }
}

TEST(EpisodeEffect, IsNotKnownOfTwoEpisodes) {
  EXPECT_FALSE(effect_in(points(2, {1.0}, {0.2}, {0.0}, 14)).known);
}

TEST(LikeStates, AreAtMostSoManyTimesAsFar) {
  const std::vector<float> distances{1.0F, 4.0F, 9.0F, kNowhere};
  EXPECT_EQ(nearest(distances), 1.0F);
  EXPECT_EQ(at_distance(5.0F, distances, 1.5), 1U);  // distances are squared: 5/4 < 1.5 x 1.5
  EXPECT_EQ(at_distance(8.0F, distances, 1.5), 2U);
  EXPECT_EQ(at_distance(100.0F, distances, 1.5), std::nullopt);
  EXPECT_EQ(at_distance(kNowhere, distances, 1.5), std::nullopt);
}

TEST(OverEpisodes, AnEpisodeCountsByTheRootOfItsSteps) {
  const auto mean = over_episodes({{0, {12.0, 4.0}}, {1, {0.0, 1.0}}, {2, {2.0, 1.0}}});
  EXPECT_NEAR(mean.mean, (2.0 * 3.0 + 0.0 + 2.0) / 4.0, 1e-9);
}

TEST(OverEpisodes, FewEpisodesAreLessSure) {
  EXPECT_NEAR(as_normal(2.0, 1e6), 2.0, 1e-3);
  EXPECT_LT(as_normal(4.0, 3.0), 2.5);
  EXPECT_NEAR(as_normal(-4.0, 3.0), -as_normal(4.0, 3.0), 1e-12);
}

TEST(CommonPolicy, MissesWhatIsNoise) {
  const auto data = points(40, {1.0}, {0.2}, {0.0}, 15);
  const Seen seen(data);
  const auto deviations = seen.targets->deviations(seen.common.noise());
  EXPECT_NEAR(deviations[0], 0.2, 0.02);
}

TEST(Rules, AConflictIsNeverAgainstWhatWasForetold) {
  const Rules rules;
  EXPECT_TRUE(rules.conflict(rules.different, 0.1));
  EXPECT_TRUE(rules.conflict(rules.differ_little, rules.as_foretold));
  EXPECT_FALSE(rules.conflict(rules.differ_little, rules.as_foretold - 0.1));
  EXPECT_FALSE(rules.conflict(2.0 * rules.different, -0.1));
}

/// One policy that jumps: -1 left of a line through the plane and 1 right of it.
Trajectories jumps(std::int64_t episodes, std::int64_t steps) {
  Random random(2, "jumps");
  Trajectories data;
  std::vector<float> seen, done;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t i = 0; i < episodes; ++i) {
    for (std::int64_t t = 0; t < steps; ++t) {
      const double x = random.normal(), y = random.normal();
      seen.push_back(static_cast<float>(x));
      seen.push_back(static_cast<float>(y));
      done.push_back(
          static_cast<float>((x + 2.0 * y * y > 1.0 ? 1.0 : -1.0) + 0.1 * random.normal()));
    }
    offsets.push_back(offsets.back() + steps);
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = Column<std::int64_t>(std::move(offsets));
  data.observations = Observations::dense(Column<float>(std::move(seen)), 2);
  data.actions = Actions::continuous(Column<float>(std::move(done)), 1);
  return data;
}

TEST(LearnedFeatures, PredictWhatRandomOnesDoNot) {
  const auto data = jumps(40, 200);
  const Workers workers(2);
  const auto targets = std::make_shared<ActionTargets>(data.actions);
  std::vector<std::uint8_t> held_out(40, 0);
  for (std::size_t i = 0; i < 40; i += 4) held_out[i] = 1;
  const LearnedFeatures features(data, FeatureMap(data.observations, 0), *targets, held_out, 1,
                                 workers);
  const auto seen = features.seen(data, workers);
  EXPECT_EQ(seen.steps(), data.steps());
  EXPECT_EQ(seen.observations.dim(), 2 + 64) << "the numbers stand beside what was learned";
  const auto v_of_one = [&](const Trajectories& of, const FeatureMap& map) {
    const FeatureEvidence evidence(of, map, targets, 10.0, workers);
    const std::vector<std::int32_t> one(40, 0);
    return evidence.v_of(evidence.score(one, 1), held_out);
  };
  EXPECT_GT(v_of_one(seen, FeatureMap(seen.observations, 0)),
            v_of_one(data, FeatureMap(data.observations, 100)) + 0.1);
}

TEST(LearnedFeatures, DependOnNoThread) {
  const auto data = jumps(12, 50);
  std::vector<std::uint8_t> held_out(12, 0);
  held_out[3] = held_out[7] = 1;
  const ActionTargets targets(data.actions);
  const FeatureMap numbers(data.observations, 0);
  const auto seen_by = [&](int threads) {
    const Workers workers(threads);
    const auto seen =
        LearnedFeatures(data, numbers, targets, held_out, 1, workers).seen(data, workers);
    std::vector<float> rows(static_cast<std::size_t>(seen.steps() * seen.observations.dim()));
    seen.observations.copy(0, seen.steps(), rows.data());
    return rows;
  };
  EXPECT_EQ(seen_by(1), seen_by(3));
}

TEST(Screening, FindsTheNumbersThatMatterAmongMany) {
  // Half of the others last for an episode each, as goals do.
  const auto data = points(60, {1.0, 2.0}, {0.1, 0.1}, {0.0, 0.0}, 18);
  constexpr std::int64_t kWide = 500;
  Random random(3, "wide");
  std::vector<float> rows(static_cast<std::size_t>(data.steps() * kWide));
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    std::vector<float> lasting(kWide);
    for (auto& number : lasting) number = static_cast<float>(random.normal());
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t) {
      float* row = rows.data() + t * kWide;
      for (std::int64_t j = 0; j < kWide; ++j)
        row[j] =
            j % 2 == 0 ? lasting[static_cast<std::size_t>(j)] : static_cast<float>(random.normal());
      data.observations.copy(t, t + 1, row + 100);
    }
  }
  auto wide = data;
  wide.observations = Observations::dense(Column<float>(std::move(rows)), kWide);
  const auto seen = telling_numbers(wide, ActionTargets(wide.actions), Workers(2));
  EXPECT_LE(seen.inputs().count(), kMostNumbersSeen);
  EXPECT_THAT(seen.inputs().columns, ::testing::Contains(100));
  EXPECT_EQ(seen.obs_dim(), kWide) << "policies read whole observations";
  const auto found = fit(wide, {}, with_threads(2));
  EXPECT_EQ(found.k(), 2);
  EXPECT_GT(nmi(found, data), 0.9);
}

TEST(HeldOut, VOfAllEpisodesIsV) {
  const auto data = points(24, {1.0, 2.0}, {0.1, 0.1}, {0.0, 0.0}, 17);
  const Seen seen(data);
  const std::vector<std::int32_t> truth(data.labels.begin(), data.labels.end());
  const auto score = seen.evidence.score(truth, 2);
  EXPECT_NEAR(seen.evidence.v_of(score, std::vector<std::uint8_t>(24, 1)), score.v, 1e-9);
}

TEST(StepHalves, DivideEveryEpisodeIntoBlocks) {
  const auto data = points(4, {1.0}, {0.1}, {0.0}, 8);
  const StepHalves halves(data);
  const auto first = halves.half(data, 0), second = halves.half(data, 1);
  EXPECT_EQ(first.steps() + second.steps(), data.steps());
  EXPECT_EQ(first.episodes(), data.episodes());
  EXPECT_EQ(first.length(0), 30);  // blocks of a tenth of the episode, in turns
  EXPECT_EQ(halves.of_steps()[5], 0);
  EXPECT_EQ(halves.of_steps()[6], 1);
}

TEST(Views, AddWhatWasBefore) {
  const auto data = points(2, {1.0}, {0.1}, {0.0}, 9);
  const auto before = seen_as(View::kPreviousAction, data);
  ASSERT_EQ(before.observations.dim(), 4);
  std::vector<float> row(4);
  before.observations.copy(0, 1, row.data());
  EXPECT_EQ(row[2], 0.0F) << "there is no action before the first";
  before.observations.copy(1, 2, row.data());
  EXPECT_EQ(row[2], data.actions.floats()[0]);
  const auto change = seen_as(View::kChange, data);
  std::vector<float> now(4), last(2);
  change.observations.copy(1, 2, now.data());
  data.observations.copy(0, 1, last.data());
  EXPECT_FLOAT_EQ(now[2], now[0] - last[0]);
}

TEST(FeatureMetric, FindsTheDirectionAPolicyLooksAlong) {
  // One number of five decides the action, by a wave.
  Random random(1, "metric");
  std::vector<float> seen, done;
  std::vector<std::int64_t> offsets{0};
  Trajectories data;
  for (int i = 0; i < 20; ++i) {
    for (int t = 0; t < 100; ++t) {
      double x[5];
      for (auto& number : x) number = random.normal();
      for (const double number : x) seen.push_back(static_cast<float>(number));
      done.push_back(static_cast<float>(std::sin(2.0 * x[3]) + 0.05 * random.normal()));
    }
    offsets.push_back(offsets.back() + 100);
    data.ids.push_back(std::to_string(i));
  }
  data.offsets = Column<std::int64_t>(std::move(offsets));
  data.observations = Observations::dense(Column<float>(std::move(seen)), 5);
  data.actions = Actions::continuous(Column<float>(std::move(done)), 1);
  const FeatureMap numbers(data.observations, 0);
  const auto factor = learn_metric(data, numbers, ActionTargets(data.actions), Workers(2)).factor;
  const auto counts = [&](std::size_t number) {  // the metric's diagonal
    double sum = 0.0;
    for (std::size_t j = 0; j <= number; ++j) sum += std::pow(factor[number * 5 + j], 2);
    return sum;
  };
  for (const std::size_t other : {0UL, 1UL, 2UL, 4UL}) EXPECT_GT(counts(3), 10.0 * counts(other));
}

TEST(PolicySearch, UnderstandsWhatItsOptionsWereCalled) {
  auto method = find_method("policy-search").make();
  from_json(method->describe(), {{"cosines", 7}}, "test");
  EXPECT_EQ(to_json(method->describe())["random-features"], 7);
}

}  // namespace
}  // namespace kindred::policy_search
